import { type ProfileGetInput, validateInput } from "@satchel/pcp";
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
  present: ({ profileType, profile, extensions }) => ({ profile_type: profileType, profile, extensions }),
});
