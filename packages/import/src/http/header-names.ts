/** Whether a config can set the header: the name is one, and the header frames no message. */
export function isSettable(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(name) && !FRAMING.test(name)
}

const FRAMING = /^(connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i
