import { Variable } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import {
  capitalized,
  choice,
  type Convert,
  dictionary,
  json,
  list,
  lost,
  mapping,
  type Members,
  membersOf,
  missing,
  scalar,
  type Scope,
} from '../values/convert.ts'

/** The part of a request that has the credential. A location that is an expression is not carried. */
export const location: Convert = mapping({
  header: mapping({ name: scalar, prefix: scalar }),
  queryParameter: mapping({ name: scalar }),
  cookie: mapping({ name: scalar }),
})

/** Reads an authentication policy, in which an absent `mode` means `optional`. */
function withMode(field: Field, scope: Scope, members: Members): Record<string, unknown> {
  return { mode: 'Optional', ...membersOf(field, members, scope) }
}

const tokenMode = capitalized('strict', 'optional', 'permissive')

const jwks: Convert = (field, scope) => {
  if (!field.isMapping) {
    const inline = scalar(field, scope)
    return inline === undefined ? undefined : { inline }
  }
  return mapping({ file: scalar, url: scalar })(field, scope)
}

/** Reads the required claims of a token. Portico always requires the claim `exp`. */
const validationOptions: Convert = mapping({
  requiredClaims: (field) => {
    const claims = field.items.map(({ text }) => text ?? '')
    if (claims.some((claim) => claim !== 'exp'))
      return lost(field, 'Portico requires only the claim exp; add a require rule for the other claims')
    if (claims.length === 0) field.changed('Portico always requires the claim exp')
    else field.carried()
    return undefined
  },
})

const providerMembers: Members = {
  issuer: scalar,
  audiences: list(scalar),
  jwks,
  jwtValidationOptions: validationOptions,
}

export const jwtAuthentication: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const {
    providers,
    mode,
    location: place,
  } = withMode(field, scope, {
    mode: tokenMode,
    location,
    authorizationLocation: ['location', location],
    providers: list(mapping(providerMembers)),
  })
  const own = membersOf(field, providerMembers, scope)
  return { mode, providers: providers ?? [own], ...(place !== undefined && { location: place }) }
}

export const mcpAuthentication: Convert = mapping({
  mode: tokenMode,
  issuer: scalar,
  audiences: list(scalar),
  jwks,
  jwtValidationOptions: validationOptions,
  provider: (field) => {
    const [[name, settings] = [field.text ?? '', null]] = field.members
    const known: Readonly<Record<string, string>> = { auth0: 'Auth0', keycloak: 'Keycloak' }
    if (!Object.hasOwn(known, name)) return lost(field, 'Portico has no adapter for this identity provider')
    if (settings?.isMapping !== true || settings.members.length === 0) field.carried()
    return known[name]
  },
  resourceMetadata: json,
  scopes: (field, scope) => {
    scalar(field, scope)
    return lost(field, 'write the scopes to resourceMetadata as scopesSupported')
  },
  authorizationLocation: missing('Portico reads tokens only from the header Authorization'),
  clientId: missing('Portico has no client credential at the identity provider'),
  clientSecret: missing('Portico has no client credential at the identity provider'),
})

export const basicAuthentication: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const { htpasswd, ...rest } = withMode(field, scope, {
    mode: capitalized('strict', 'optional'),
    realm: scalar,
    htpasswd: (each) => {
      if (each.isMapping) return mapping({ file: scalar })(each, scope)
      const text = scalar(each, scope)
      return typeof text === 'string'
        ? text
            .split('\n')
            .map((line) => line.trim())
            .filter((line) => line !== '')
        : text
    },
    location,
    authorizationLocation: ['location', location],
  })
  return { ...rest, ...(Array.isArray(htpasswd) ? { users: htpasswd } : { secretRef: secretOf(htpasswd) }) }
}

/** Prints a secret as the name of an environment variable, or as a file. */
function secretOf(value: unknown): unknown {
  return value instanceof Variable ? { env: value.name } : value
}

/** The format of API keys that Portico accepts. */
const KEY = /^[\x21-\x7e]{8,1024}$/

export const apiKeyAuthentication: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const mode = field.get('mode')
  const found = withMode(field, scope, {
    mode: choice({ strict: 'Strict', optional: 'Optional', permissive: 'Optional' }),
    location,
    authorizationLocation: ['location', location],
  })
  if (mode?.text === 'permissive') mode.changed('Portico denies requests with an invalid key')
  const entries = field.get('keys')?.items ?? []
  if (entries.length === 0) return lost(field.get('keys') ?? field, 'the policy has no keys')
  const data = new Map<string, unknown>()
  for (const [index, entry] of entries.entries()) {
    const value = readKey(entry, scope, index)
    if (value !== undefined) data.set(keyName(entry, index, data), value)
  }
  return { ...found, secretRef: { data: Object.fromEntries(data) } }
}

function readKey(entry: Field, scope: Scope, index: number): unknown {
  const found = mapping({
    key: (field) => keyOf(field, scope, index),
    keyHash: scalar,
    metadata: dictionary(json),
    allowedModels: (field) =>
      field.items.length === 0
        ? undefined
        : lost(field, 'configure an authorization rule that allows certain models for the key'),
  })(entry, scope) as Record<string, unknown> | undefined
  const metadata = found?.['metadata'] as Record<string, unknown> | undefined
  const name = metadata?.['name']
  if (name !== undefined && typeof name !== 'string')
    lost(entry, 'metadata.name is not a text, and Portico uses apiKey.name for the name of the key')
  return found
}

function keyOf(field: Field, scope: Scope, index: number): unknown {
  const value = scalar(field, scope)
  if (typeof value !== 'string' || KEY.test(value)) return value
  const name = scope.env.add(`API_KEY_${index + 1}`)
  field.changed(`Portico accepts keys of 8 to 1024 characters without spaces; set ${name} to a new key`)
  return scope.env.valueOf(`\${${name}}`)
}

/**
 * Returns the name of an API key: the name, user or id in the metadata of the key, if this name is valid and no other
 * key has it.
 */
function keyName(entry: Field, index: number, taken: ReadonlyMap<string, unknown>): string {
  const metadata = entry.get('metadata')
  const own = metadata?.get('name')?.text ?? null
  const owner = own ?? metadata?.get('user')?.text ?? metadata?.get('id')?.text ?? ''
  const isUsable = /^[\w.@-]+$/.test(owner) && owner !== '__proto__' && !taken.has(owner)
  if (isUsable) return owner
  if (own !== null)
    lost(entry, 'Portico uses metadata.name as the name of the key, and this name is not valid or another key has it')
  let name = `key${index + 1}`
  while (taken.has(name)) name += 'a'
  return name
}

export const oidc: Convert = missing('Portico has no browser sign-in; an external authorizer can provide it')
export const csrf: Convert = mapping({ additionalOrigins: list(scalar) })
