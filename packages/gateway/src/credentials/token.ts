/** Whether it can stand in a header; what an endpoint answers is not to be trusted. */
export function isToken(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]{1,16384}$/.test(text)
}
