import { Variable } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { location } from './authentication.ts'
import { capitalized, type Convert, lost, mapping, membersOf, missing, scalar, type Scope } from '../values/convert.ts'

/** Reads the credential that Portico sends to a backend. */
export const backendAuth: Convert = (field, scope) => {
  const [[kind, member] = ['', field], ...others] = field.members.filter(([name]) => name !== 'location')
  if (!field.isMapping || others.length > 0) return lost(field, 'expected one kind of credential')
  const outer = field.get('location')
  const place = outer === null ? {} : { location: location(outer, scope) }
  if (kind === 'key') return { ...keyOf(member, scope), ...place }
  if (kind === 'passthrough') {
    const own = member.isMapping ? membersOf(member, { location }, scope) : {}
    if (!member.isMapping || Object.keys(own).length === 0) member.carried()
    return { passthrough: {}, ...own, ...place }
  }
  const convert = CLOUDS[kind]
  return convert === undefined
    ? lost(field, `Portico has no credential of the kind ${kind}`)
    : { [kind]: convert(member, scope) ?? {} }
}

/** Reads an API key for a backend: a text or a file, with or without the header that has the key. */
function keyOf(field: Field, scope: Scope): object | undefined {
  const value = field.get('value')
  if (value !== null) return { ...secretOf(value, scope), ...membersOf(field, { location }, scope) }
  return secretOf(field, scope)
}

/** Prints a secret for a policy, as a text or a file. */
export function secretOf(field: Field, scope: Scope): object | undefined {
  if (field.isMapping) {
    const file = mapping({ file: scalar })(field, scope) as object
    return 'file' in file ? { secretRef: file } : lost(field, 'expected a key or a file')
  }
  const key = scalar(field, scope)
  if (key instanceof Variable) return { secretRef: { env: key.name } }
  return key === undefined ? undefined : { key }
}

const implicit: Convert = (field) => {
  if (field.isMapping && field.members.length > 0)
    return lost(field, 'Portico reads this credential only from its environment')
  field.carried()
  return {}
}

const awsKeys: Convert = (field, scope) => {
  if (!field.isMapping || field.members.length === 0) return implicit(field, scope)
  const { region, service, ...keys } = membersOf(
    field,
    {
      accessKeyId: ['accessKey', scalar],
      secretAccessKey: ['secretKey', scalar],
      sessionToken: scalar,
      region: scalar,
      serviceName: ['service', scalar],
      assumeRole: missing('Portico reads the role from the environment variable AWS_ROLE_ARN'),
    },
    scope,
  )
  return {
    ...(region !== undefined && { region }),
    ...(service !== undefined && { service }),
    ...(Object.keys(keys).length > 0 && { secretRef: { data: secretData(keys) } }),
  }
}

function secretData(keys: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(keys).map(([name, value]) => [name, value instanceof Variable ? { env: value.name } : value]),
  )
}

const CLOUDS: Readonly<Record<string, Convert>> = {
  aws: awsKeys,
  gcp: (field, scope) =>
    field.isMapping && field.members.length > 0
      ? mapping({ type: capitalized('accessToken', 'idToken'), audience: scalar })(field, scope)
      : implicit(field, scope),
  azure: (field, scope) => {
    if (!field.isMapping || field.members.length === 0) return implicit(field, scope)
    const [[kind, member] = ['', field]] = field.members
    if (kind === 'implicit' || kind === 'developerImplicit') {
      member.carried()
      return {}
    }
    const secret = kind === 'explicitConfig' ? member.get('clientSecret') : null
    if (secret === null) return lost(field, 'expected implicit, or a clientSecret')
    const keys = membersOf(
      secret,
      {
        client_id: ['clientID', scalar],
        clientId: ['clientID', scalar],
        tenant_id: ['tenantID', scalar],
        tenantId: ['tenantID', scalar],
        client_secret: ['clientSecret', scalar],
        clientSecret: scalar,
      },
      scope,
    )
    return { secretRef: { data: secretData(keys) } }
  },
}
