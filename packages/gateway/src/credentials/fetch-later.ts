/**
 * Calls the runtime's `fetch`. The first access to that global loads its client, which few configs need, so the access
 * waits until the first call.
 */
export function fetchLater(...request: Parameters<typeof fetch>): ReturnType<typeof fetch> {
  return fetch(...request)
}
