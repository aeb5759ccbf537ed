/**
 * Converts a header value from a config to wire format: UTF-8 bytes, one character code per byte. ASCII stays
 * unchanged.
 */
export function fieldText(value: string): string {
  return /^[\x20-\x7e\t]*$/.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1')
}
