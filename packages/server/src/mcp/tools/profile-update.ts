import { type ProfileUpdateInput, profileScope, validateInput } from "@satchel/pcp";
import { updateProfile } from "../../context/profile.js";
import { invalidInput } from "../../domain/refusal.js";
import { defineTool, needsProfileScope } from "../tool.js";
import { askedCategory, profileCategory } from "./profile-get.js";

export const profileUpdate = defineTool({
  name: "profile_update",
  permit: needsProfileScope("write"),
  parse(args) {
    const violations = validateInput("profile_update", args);
    return violations.length > 0 ? invalidInput(violations) : (args as unknown as ProfileUpdateInput);
  },
  run: updateProfile,
  refused: { category: "profile.core", action: "write" },
  askedCategory: ({ namespace }) => askedCategory(namespace),
  audit: ({ namespace }) => {
    const category = profileCategory(namespace);
    return { category, action: "write", targets: [category] };
  },
  replay: ({ namespace }) => ({ scopes: [profileScope(namespace, "write")], owner: true }),
  present: (updated) => ({ ...updated }),
});
