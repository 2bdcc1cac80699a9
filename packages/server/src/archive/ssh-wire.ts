/** Reads the fields of SSH's binary format (RFC 4251 section 5). @throws RangeError past the end */
export class SshReader {
  private offset = 0;
  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.offset === this.bytes.length;
  }

  number(): number {
    const value = this.bytes.readUInt32BE(this.offset);
    this.offset += 4;
    return value;
  }

  string(): Buffer {
    return this.take(this.number());
  }

  take(length: number): Buffer {
    if (length > this.bytes.length - this.offset) throw new RangeError("A field ends behind its container.");
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }
}

/** Fields one after the other, each with its length in front. */
export function writeSshStrings(...fields: Uint8Array[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(field.length);
      return [length, field];
    }),
  );
}

/** An unsigned number as `mpint`: the sign bit in front stays free. */
export function toMpint(bytes: Buffer): Buffer {
  return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
}
