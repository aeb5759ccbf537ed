/** The address of the API server, and our credentials. */
export interface Connection {
  /** `https://host:port`, followed by a path when the server is behind one. */
  server: string
  /** The URL of the proxy, with a password if the proxy needs one. */
  proxy?: string | undefined
  /** Called for every request, so implementations cache; `fresh` is true after a 401. */
  credentials: (fresh: boolean) => Promise<Credentials>
}

export interface Credentials {
  /** The CA bundle as PEM. */
  ca?: string
  cert?: string
  key?: string
  /** The name expected in the server's certificate, when it differs from the URL. */
  serverName?: string
  insecure?: boolean
  /** The value of the `authorization` header. */
  authorization?: string
}
