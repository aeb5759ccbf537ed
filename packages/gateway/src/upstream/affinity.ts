import { hash } from 'node:crypto'

/** The endpoint that requests from an address go to: as long as it is there, whatever comes and goes beside it. */
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
