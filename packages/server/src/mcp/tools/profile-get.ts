import { isExtensionNamespace, type ProfileGetInput, profileScope, validateInput } from "@satchel/pcp";
import { readProfile } from "../../context/profile.js";
import { invalidInput } from "../../domain/refusal.js";
import { defineTool, needsProfileScope } from "../tool.js";

export const profileGet = defineTool({
  name: "profile_get",
  permit: needsProfileScope("read"),
  parse(args) {
    const violations = validateInput("profile_get", args);
    return violations.length > 0 ? invalidInput(violations) : (args as ProfileGetInput);
  },
  run: readProfile,
  refused: { category: "profile.core", action: "read" },
  askedCategory: ({ namespaces }) => askedCategory(Array.isArray(namespaces) ? namespaces[0] : undefined),
  audit: ({ profileType, profile, extensions }) => {
    const targets = [...(profile ? [profileType] : []), ...Object.keys(extensions)].map(profileCategory);
    return { category: targets[0] ?? profileCategory(profileType), action: "read", targets };
  },
  present: ({ profileType, profile, extensions }) => ({ profile_type: profileType, profile, extensions }),
});

/** `profile.` and the namespace, as in its scopes (pcp sections 4 and 8). */
export function profileCategory(namespace: string): string {
  return profileScope(namespace, "read").replace(/:read$/, "");
}

/** The category of an extension that was asked for by name. */
export function askedCategory(namespace: unknown): string | undefined {
  return typeof namespace === "string" && isExtensionNamespace(namespace) ? profileCategory(namespace) : undefined;
}
