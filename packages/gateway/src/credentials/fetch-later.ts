/** The runtime's own `fetch`. Touching that loads its client, which few configs need: so not before it is called. */
export function fetchLater(...request: Parameters<typeof fetch>): ReturnType<typeof fetch> {
  return fetch(...request)
}
