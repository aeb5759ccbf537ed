import { hash } from 'node:crypto'
import type { StoredKey, StoredTeam } from '../stores/key-store.ts'

/** The version of what people edit of a key or a team. New secrets of a key leave it as it is. */
export function entryVersion(entry: StoredKey | StoredTeam): string {
  const revoked = 'revoked' in entry ? entry.revoked : null
  const fields = Object.entries(entry.fields).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return hash('sha256', JSON.stringify([entry.id, fields, revoked]), 'base64url').slice(0, LENGTH)
}

/** 96 bits. */
const LENGTH = 16
