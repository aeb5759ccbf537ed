import type { RequestContext } from '../../../pipeline/context/request-context.ts'

/**
 * Returns the owner of a client's files and batches: the team of its API key, else the key, the user, or the subject of
 * its token. All clients without an identity are one owner.
 */
export function ownerOf({ apiKey, apiKeyName, basicAuth, jwt }: RequestContext): string {
  const team = apiKey?.['team']
  if (typeof team === 'string' && team !== '') return `team ${team}`
  if (apiKeyName !== null) return `key ${apiKeyName}`
  if (basicAuth !== null) return `user ${basicAuth.username}`
  if (jwt === null) return ''
  return `subject ${JSON.stringify([jwt['iss'] ?? null, jwt['sub'] ?? null])}`
}
