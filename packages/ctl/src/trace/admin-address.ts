export interface AdminAddress {
  /** As messages name it. */
  readonly label: string
  readonly connect: { readonly host: string; readonly port: number } | { readonly socketPath: string }
}

/** `127.0.0.1:15000`, `[::1]:15000`, `localhost:15000`, with or without `http://`, or `unix:/path`; null otherwise. */
export function parseAdminAddress(text: string): AdminAddress | null {
  if (text.startsWith('unix:/')) return { label: text, connect: { socketPath: text.slice('unix:'.length) } }
  const [, host = '', portText = ''] = /^(?:http:\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i.exec(text) ?? []
  const port = Number(portText)
  if (host === '' || port < 1 || port > 65_535) return null
  return { label: `${host}:${port}`, connect: { host: host.replaceAll(/[[\]]/g, ''), port } }
}
