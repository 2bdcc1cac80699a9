/** One rule that a value breaks, as the schema compiler reports it. */
export interface SchemaError {
  /** RFC 6901, from the validated value; "" for the value itself. */
  instancePath: string;
  keyword: string;
  message?: string;
}

/** True when the value fits; otherwise `errors` has all it breaks, until the next call. */
export interface CompiledValidator {
  (value: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}
