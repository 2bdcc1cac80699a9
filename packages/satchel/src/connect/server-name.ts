/** The name under which every client lists us. */
export const serverName = "satchel";
