/**
 * Where messages go, as the first event of a stream says it: path and query; null when it is no place on the target
 * itself. A target must not send the gateway elsewhere.
 */
export function readEndpoint(data: string, { authority, path }: { authority: string; path: string }): string | null {
  const text = data.trim()
  const base = `http://${authority}${path}`
  if (text === '' || text.length > MAX_LENGTH || !URL.canParse(text, base)) return null
  const own = new URL(base)
  const url = new URL(text, base)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null
  // Behind TLS the port may be left out on either side.
  const isSamePort = url.port === own.port || url.port === '' || own.port === ''
  return url.hostname === own.hostname && isSamePort ? url.pathname + url.search : null
}

const MAX_LENGTH = 8_192
