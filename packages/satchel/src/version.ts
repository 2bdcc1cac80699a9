/** The version of every package of this release. */
export const version = "0.1.0";
