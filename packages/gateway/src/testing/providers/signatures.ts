/** Reasoning that a vendor signed, or encrypted: only the vendor that made it takes it back, on any platform it is on. */

export function sign(vendor: string, text: string): string {
  // Real ones have hundreds of bytes, which not every field has room for.
  return Buffer.from(`${vendor} signed ${text} `.padEnd(240, '.')).toString('base64')
}

export function isSignedBy(vendor: string, text: string, signature: string): boolean {
  return signature === sign(vendor, text)
}
