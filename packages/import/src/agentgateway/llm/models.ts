import type { Field } from '../../core/yaml-field.ts'
import { amendOthers, worst } from '../backends/ai.ts'
import { type Provider, providerOf, vendorOf } from '../backends/providers.ts'
import { merge, readPolicies } from '../policies/effects.ts'
import { secretOf } from '../policies/backend-auth.ts'
import { MODEL_POLICIES } from '../policies/tables.ts'
import { choice, type ClosedStatus, lost, type Members, membersOf, scalar, type Scope } from '../values/convert.ts'
import { destinationOf, splitHostPort } from '../values/targets.ts'

/** An imported model of the config section `llm`. */
export interface ReadModel {
  readonly name: string
  readonly field: Field
  readonly members: Readonly<Record<string, unknown>>
  readonly status: ClosedStatus | null
  readonly provider: Provider | null
}

/** Converters for the members of `params` that become members of a Portico provider. */
const SETTINGS: Members = {
  model: scalar,
  awsRegion: ['region', scalar],
  vertexRegion: ['region', scalar],
  vertexProject: ['projectId', scalar],
  azureResourceName: ['resourceName', scalar],
  azureResourceType: [
    'resourceType',
    choice({ openAI: 'OpenAI', foundry: 'Foundry', OpenAI: 'OpenAI', Foundry: 'Foundry' }),
  ],
  azureApiVersion: ['apiVersion', scalar],
  azureProjectName: ['projectName', scalar],
}

const OTHER_MEMBERS = ['name', 'provider', 'params', 'visibility', 'matches']

export function readModel(field: Field, scope: Scope): ReadModel {
  const name = field.get('name')
  name?.carried()
  const policies = field.members.filter(([each]) => !OTHER_MEMBERS.includes(each))
  const effects = readPolicies(field.part(new Map(policies)), MODEL_POLICIES, scope, 'backend')
  const matches = field.get('matches')
  if (matches !== null && matches.items.length > 0)
    matches.notCarried('Portico chooses models by name; write conditions in a virtual model; requests get 403', true)
  const provider = readModelProvider(field, scope)
  const { own, isLost } = connectionOf(field.get('params'), scope)
  const all: Record<string, unknown> = { ...effects.policies }
  const isTwice = !merge(all, own.policies)
  if (isTwice) field.get('params')?.notCarried('the model has policies of the same kind; requests get 403', true)
  if (provider !== undefined && provider.cloud !== null && !('auth' in all)) all['auth'] = { [provider.cloud]: {} }
  const visibility = field.get('visibility')
  const isOpen = provider !== undefined && matches === null && !isLost && !isTwice
  return {
    ...{ name: name?.text ?? '', field, provider: provider ?? null },
    members: {
      provider: { ...provider?.provider, ...own.members },
      ...(Object.keys(all).length > 0 && { policies: all }),
      ...(visibility !== null && visibility.text === 'internal' && { visibility: 'Internal' }),
    },
    status: worst([effects.status, isOpen && isKnownVisibility(visibility) ? null : 403]),
  }
}

function isKnownVisibility(field: Field | null): boolean {
  if (field === null) return true
  if (field.text !== 'internal' && field.text !== 'public') return lost(field, 'expected public or internal') ?? false
  field.carried()
  return true
}

function readModelProvider(field: Field, scope: Scope): Provider | undefined {
  const named = field.get('provider')
  const kind = named?.text ?? named?.get('name')?.text ?? ''
  const vendor = vendorOf(kind)
  if (named === null || vendor === undefined)
    return lost(named ?? field, 'the importer does not know this provider; requests get 403')
  named.carried()
  const params = field.get('params')
  const settings = params === null ? {} : membersOf(params, SETTINGS, scope)
  const { model } = settings
  // If no provider model is set, Portico would remove a prefix that ends in a slash from the model name.
  const name = field.get('name')?.text ?? ''
  const isWhole = model === undefined && name.endsWith('/*') && !changesModel(field)
  return providerOf(vendor, isWhole ? { model: name, ...settings } : settings, { members: {}, address: null })
}

/** Whether a policy of the model sets the model name in the request body. */
function changesModel(field: Field): boolean {
  return ['transformation', 'overrides'].some((each) => field.get(each)?.get('model') != null)
}

interface Connection {
  readonly members: Readonly<Record<string, unknown>>
  readonly policies: Readonly<Record<string, unknown>>
}

/** Reads the address and the key in `params`. */
function connectionOf(params: Field | null, scope: Scope): { own: Connection; isLost: boolean } {
  if (params === null) return { own: { members: {}, policies: {} }, isLost: false }
  const { pathOverride: path, pathPrefix } = membersOf(params, { pathOverride: scalar, pathPrefix: scalar }, scope)
  const key = params.get('apiKey')
  const auth = key === null ? undefined : secretOf(key, scope)
  const tokenize = params.get('tokenize')
  if (tokenize?.isTrue === true) tokenize.changed('Portico counts tokens when the response is complete')
  else tokenize?.carried()
  const base = params.get('baseUrl')
  const host = params.get('hostOverride')
  const address = base === null ? (host === null ? {} : hostOf(host, scope)) : baseOf(base)
  const isLost = amendOthers(params)
  const { tls, ...members } = address as { tls?: object }
  const paths = { ...(path !== undefined && { path }), ...(pathPrefix !== undefined && { pathPrefix }) }
  const policies = { ...(auth !== undefined && { auth }), ...(tls !== undefined && { tls }) }
  return { own: { members: { ...members, ...paths }, policies }, isLost }
}

function hostOf(field: Field, scope: Scope): object {
  const found = destinationOf(field, scope)
  if (typeof found === 'string' || typeof found.host !== 'string' || found.isTls)
    return lost(field, 'expected host:port') ?? {}
  field.carried()
  return splitHostPort(found.host)
}

/** Reads the base URL of a provider. The path of the URL replaces the default path `/v1`. */
function baseOf(field: Field): object {
  const text = field.text ?? ''
  if (text.includes('$') || !URL.canParse(text)) return lost(field, 'expected a URL without variables') ?? {}
  const { protocol, hostname, port, pathname, search, username } = new URL(text)
  if (!['http:', 'https:'].includes(protocol) || search !== '' || username !== '')
    return lost(field, 'expected a URL without query and user') ?? {}
  field.carried()
  const isTls = protocol === 'https:'
  const path = pathname.replace(/\/+$/, '')
  return {
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    ...(path !== '' && path !== '/v1' && { pathPrefix: path }),
    ...(isTls && { tls: {} }),
  }
}
