import { createHash } from 'node:crypto'
import type { Resource } from '@portico/translate'

/** The longest name of a Service and the longest value of a label. */
const MAX_LENGTH = 63
const HASH_LENGTH = 12
const HEAD_LENGTH = MAX_LENGTH - HASH_LENGTH - 1

/**
 * Returns the name of the objects of a Gateway: its own name when that is valid for a Service. Names of Gateways may be
 * longer, contain dots and begin with a digit; such a name is adapted, and a hash of the original keeps it unique.
 */
export function objectName(gateway: string): string {
  if (/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(gateway)) return gateway
  const fitting = gateway.replaceAll(/[^-a-z0-9]/g, '-').replace(/^(?![a-z])/, 'gw-')
  return `${head(fitting)}-${hash(gateway)}`
}

/**
 * Returns the name of a data plane: that of its Gateway, or `merged:name` for a data plane that Gateways share by these
 * GwParameters. No Gateway can have a name with a colon.
 */
export function dataPlaneName({ kind, metadata: { name } }: Resource): string {
  return kind === 'GwParameters' ? `merged:${name}` : name
}

/** Returns the name of a Gateway as a label value. */
export function labelValue(gateway: string): string {
  if (gateway.includes(':')) return objectName(gateway)
  return gateway.length <= MAX_LENGTH ? gateway : `${head(gateway)}-${hash(gateway)}`
}

export function sessionSecretName(gateway: string): string {
  return `${objectName(gateway)}-session-key`
}

function head(name: string): string {
  return name.slice(0, HEAD_LENGTH).replace(/[-.]+$/, '')
}

function hash(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH)
}
