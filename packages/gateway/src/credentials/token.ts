/** Returns whether a token can be sent in a header; responses of token endpoints are not trusted. */
export function isToken(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]{1,16384}$/.test(text)
}
