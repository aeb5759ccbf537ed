/** Codes of failures, as the admin API has them, in words. */
const WORDS: Readonly<Record<string, string>> = {
  dns_failed: 'host name not found',
  no_endpoints: 'no endpoints',
  no_targets: 'no MCP servers match the selector',
  endpoint_gone: 'endpoint no longer part of the backend',
  invalid_backend: 'invalid backend',
  address_refused: 'address not allowed',
  connect_failed: 'connection failed',
  connect_timeout: 'connection timed out',
  tls_failed: 'TLS handshake failed',
  connection_lost: 'connection closed before a response',
  bad_response: 'invalid response',
  loop_detected: 'request loop',
  response_timeout: 'response timed out',
  internal: 'internal error of the gateway',
}

/** `causeWords` returns the words for a code. A code without an entry loses its underscores; other texts stay. */
export function causeWords(cause: string): string {
  const words = Object.hasOwn(WORDS, cause) ? WORDS[cause] : undefined
  return words ?? (/^[a-z]+(?:_[a-z]+)*$/.test(cause) ? cause.replaceAll('_', ' ') : cause)
}
