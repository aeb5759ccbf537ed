import { hash } from 'node:crypto'

/**
 * Returns the endpoint for requests from an address. The choice stays the same as long as that endpoint exists, even
 * when other endpoints come and go.
 */
export function endpointFor(client: string, endpoints: readonly string[]): string | undefined {
  let best: string | undefined
  let highest = ''
  for (const endpoint of endpoints) {
    const score = hash('sha1', `${client} ${endpoint}`)
    if (best !== undefined && score <= highest) continue
    best = endpoint
    highest = score
  }
  return best
}
