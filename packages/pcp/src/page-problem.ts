/**
 * One reason why a page is refused. `line` and `column` are 1-based and count in the whole text (columns in UTF-16
 * units); `pointer` is an RFC 6901 pointer into the frontmatter. Messages never repeat values.
 */
export interface PageProblem {
  code: "invalid_input" | "too_large";
  message: string;
  line?: number;
  column?: number;
  pointer?: string;
}

/** UTF-8 bytes (pcp section 3). The frontmatter limit counts the YAML between the fences. */
export const MAX_BODY_BYTES = 256 * 1024;
export const MAX_FRONTMATTER_BYTES = 32 * 1024;

/** Collections inside each other, the frontmatter mapping itself being the first. */
export const MAX_DEPTH = 64;
