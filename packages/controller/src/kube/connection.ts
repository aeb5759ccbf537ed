/** Where the API server is, and who we are to it. */
export interface Connection {
  /** `https://host:port`, with a path where it stands behind one. */
  server: string
  /** The URL of the proxy on the way there, with a password if it asks for one. */
  proxy?: string | undefined
  /** Asked for every request, so they are kept until they are stale; `fresh` after a 401. */
  credentials: (fresh: boolean) => Promise<Credentials>
}

export interface Credentials {
  /** PEM. */
  ca?: string
  cert?: string
  key?: string
  /** Another name than the URL's that the server's certificate must have. */
  serverName?: string
  insecure?: boolean
  /** The whole `authorization` header. */
  authorization?: string
}
