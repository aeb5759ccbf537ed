import { commented } from '../../core/config-yaml.ts'
import { positionText } from '../../core/source.ts'
import type { StatedTest } from '../../core/test-file.ts'
import type { Field } from '../../core/yaml-field.ts'
import { readPolicies } from '../policies/effects.ts'
import { routePolicies } from '../policies/tables.ts'
import type { FindSharedPolicies } from '../routes/listeners.ts'
import { mapping, scalar, type Scope } from '../values/convert.ts'
import { whyInvalidConfig } from '../values/validity.ts'
import { type ReadModel, readModel } from './models.ts'
import { CLOSED_MODEL, readVirtualModel } from './virtual-models.ts'

/** The section `llm` of the config: a port that serves language models. */
interface ReadLlm {
  readonly printed: object
  readonly port: number
  readonly tests: readonly StatedTest[]
}

const DEFAULT_PORT = 4_000

/** Reads the section `llm`; returns null when its port is not opened. */
export function readLlm(field: Field, scope: Scope, shared: FindSharedPolicies): ReadLlm | null {
  // Models that attach to gateways are reported by `bindsOfGateways`, which closes these gateways.
  if (field.get('gateways') !== null) return null
  if (field.get('providers') !== null) {
    field.get('providers')?.notCarried('write the provider into each model; the port is not opened', true)
    return null
  }
  const port = field.get('port')
  const value = port === null ? DEFAULT_PORT : scalar(port, scope)
  const number = Number(scope.env.sampleOf(value))
  const { early, late } = shared(number, 'llm')
  if ([early, late].some(({ policies, status }) => status !== null || Object.keys(policies).length > 0)) {
    field.notCarried(
      'top-level policies apply to this port, which Portico cannot add to models; the port is not opened',
      true,
    )
    return null
  }
  const tls = field.get('tls')
  const certificates = tls === null ? undefined : mapping({ cert: scalar, key: scalar, root: scalar })(tls, scope)
  const policies = field.get('policies')
  const effects = readPolicies(policies, routePolicies(policies?.get('retry') != null), scope, 'traffic')
  const read = withoutAmbiguous((field.get('models')?.items ?? []).map((each) => readModel(each, scope)))
  const virtual = field.get('virtualModels')?.items ?? []
  const virtualNames = virtual.map((each) => each.get('name')?.text ?? '')
  const models = [
    ...read.map((model) => printModel(model, scope)),
    ...virtual.map((each) => printVirtual(each, scope, read, virtualNames)),
  ]
  const unique = models.filter(({ name }, index) => models.findIndex((each) => each.name === name) === index)
  const closed = { directResponse: { status: effects.status ?? 403, body: 'not imported\n' } }
  const own = effects.status === null ? effects.policies : closed
  const printed = {
    port: value,
    ...(certificates !== undefined && { tls: certificates }),
    models: unique.map(({ printed: each }) => each),
    ...(Object.keys(own).length > 0 && { policies: own }),
  }
  const why = whyInvalidConfig({ llm: printed }, scope, 1)
  if (why !== null || (tls !== null && tls.amendLosses('the port is not opened', true))) {
    field.notCarried(`${why ?? 'the certificate cannot be imported'}; the port is not opened`, true)
    return null
  }
  const isOpen = tls === null && Object.keys(own).every((name) => ['cors', 'backend', 'rateLimit'].includes(name))
  return { printed, port: number, tests: isOpen ? read.flatMap((model) => testOf(model, number)) : [] }
}

/**
 * Closes models whose name an earlier entry matches too: versions of agentgateway differ in the entry that they choose.
 */
function withoutAmbiguous(models: readonly ReadModel[]): ReadModel[] {
  return models.map((model, index) => {
    const earlier = models.slice(0, index)
    if (!earlier.some(({ name }) => fits(name, model.name) || fits(model.name, name))) return model
    if (!earlier.some(({ name }) => name === model.name || fits(name, model.name))) return model
    model.field.notCarried(
      'an earlier model matches the same names, and versions of agentgateway choose differently; requests get 403',
      true,
    )
    return { ...model, status: 403 }
  })
}

/** Whether a pattern with a star at one end matches all names that another pattern matches. */
function fits(pattern: string, name: string): boolean {
  if (pattern === name) return true
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1))
  return pattern.startsWith('*') && name.endsWith(pattern.slice(1))
}

interface PrintedModel {
  readonly name: string
  readonly printed: object
}

function printModel({ name, field, members, status }: ReadModel, scope: Scope): PrintedModel {
  const place = positionText(field.at)
  const whole = { name, ...members }
  const why = status === null ? whyInvalidConfig({ llm: { models: [whole] } }, scope, 3) : null
  if (why !== null) field.notCarried(`${why}; requests get 403`, true)
  return { name, printed: commented(status === null && why === null ? whole : { name, ...CLOSED_MODEL }, place) }
}

/**
 * Prints a virtual model. Its targets must be models: for a target with the name of a virtual model, Portico would
 * choose the virtual model instead of a pattern.
 */
function printVirtual(
  field: Field,
  scope: Scope,
  models: readonly ReadModel[],
  virtualNames: readonly string[],
): PrintedModel {
  const isModel = (target: string): boolean =>
    !virtualNames.includes(target) && models.some((each) => fits(each.name, target))
  const { name, members } = readVirtualModel(field, scope, isModel)
  if (models.some((each) => each.name === name))
    field.notCarried('a model with the same name exists, and requests go to that model', true)
  return { name, printed: commented({ name, ...members }, positionText(field.at)) }
}

/** Returns a test with a chat, for a model whose name and address are known. */
function testOf({ name, status, provider, members }: ReadModel, port: number): StatedTest[] {
  const { host, port: own, path } = (members['provider'] ?? {}) as { host?: unknown; port?: unknown; path?: unknown }
  if (status !== null || provider === null || path !== undefined || 'visibility' in members) return []
  if (provider.cloud !== null || JSON.stringify(members).includes('"ai"')) return []
  const address = typeof host === 'string' ? `${host}:${String(own)}` : provider.address
  const sent = name.replace('*', 'example')
  const asked = (provider.model ?? name).replace('*', 'example')
  if (address === null || asked.includes('$')) return []
  return [
    {
      name: `${name} is served`,
      upstreams: { '*': { chat: 'ok' } },
      send: { chat: 'hello', model: sent, port },
      expect: { status: 200, llm: { model: asked }, upstream: { address } },
    },
  ]
}
