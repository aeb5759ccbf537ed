/** Whether a config can set a header: its name is valid, and it is not one of the headers that frame a message. */
export function isSettable(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(name) && !FRAMING.test(name)
}

const FRAMING = /^(connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i
