/** A header value from a config as it travels: UTF-8 bytes, one code per byte. ASCII stays as it is. */
export function fieldText(value: string): string {
  return /^[\x20-\x7e\t]*$/.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1')
}
