import { type ProfileUpdateInput, validateInput } from "@satchel/pcp";
import { updateProfile } from "../../context/profile.js";
import { invalidInput } from "../../domain/refusal.js";
import { defineTool, needsProfileScope } from "../tool.js";

export const profileUpdate = defineTool({
  name: "profile_update",
  permit: needsProfileScope("write"),
  parse(args) {
    const violations = validateInput("profile_update", args);
    return violations.length > 0 ? invalidInput(violations) : (args as unknown as ProfileUpdateInput);
  },
  run: updateProfile,
  present: (updated) => ({ ...updated }),
});
