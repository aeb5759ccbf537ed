import { withoutAbsent } from '../core/config-yaml.ts'
import type { Field } from '../core/yaml-field.ts'
import { addressOf, type Address } from './address.ts'
import { readCloud } from './cloud.ts'
import { requestFields } from './request-fields.ts'
import { authOf, type Secret, secretOf, variableOf } from './secrets.ts'
import { splitModel, type Vendor } from './vendors.ts'

/** One entry of `model_list`. */
export interface Deployment {
  readonly name: string
  readonly field: Field
  /** The provider and its policies in our config. */
  readonly provider: object
  readonly policies: object | null
  readonly price: { input: number; output: number } | null
  readonly weight: number | null
  readonly rpm: number | null
  readonly tpm: number | null
  readonly order: number | null
  /** The address that a test expects; null when the provider needs a token of a cloud. */
  readonly tested: { readonly address: string } | null
  /** Values of its variables for tests. */
  readonly env: Readonly<Record<string, string>>
  /** The model that the provider is asked for; undefined when it is the client's. */
  readonly model: string | undefined
  /** Whether a client's credential would reach the provider. */
  readonly hasCredential: boolean
  /** `model_info.mode`, such as `embedding`; null when unset. */
  readonly mode: string | null
}

const NAME = /^(?:\*|\*?[\w.:/@+-]+|[\w.:/@+-]+\*)$/

/** Reads an entry; null when it cannot be imported, which the report says. */
export function readDeployment(entry: Field, defaults: { timeout: number | null }): Deployment | null {
  const name = entry.get('model_name')
  const params = entry.get('litellm_params')
  const model = params?.get('model') ?? null
  if (name?.text == null || params === null || model?.text == null) {
    entry.notCarried('the entry has no model_name or no litellm_params.model')
    return null
  }
  if (!NAME.test(name.text))
    return refuse(entry, name, 'the gateway accepts model names of letters, digits, ._:/@+- and one * at an end')
  const split = splitModel(model.text, params.get('custom_llm_provider')?.text ?? null)
  if (typeof split === 'string') return refuse(entry, model, split)
  if (split.model.split('*').length > 2) return refuse(entry, model, 'the model name contains more than one *')
  const hasStar = name.text.includes('*')
  if (split.model.includes('*') && !hasStar)
    return refuse(entry, model, 'the model contains *, but model_name does not')
  params.get('custom_llm_provider')?.carried()
  name.carried()
  const { vendor } = split
  if (vendor.difference === undefined) model.carried()
  else model.changed(vendor.difference)
  return new DeploymentReader(entry, params, vendor).read(name.text, split.model, defaults)
}

function refuse(entry: Field, field: Field, why: string): null {
  if (field === entry) {
    entry.notCarried(why)
    return null
  }
  field.notCarried(why)
  for (const [name, member] of entry.members)
    if (member !== field && name !== 'litellm_params')
      member.notCarried('the model_list entry of this field is not carried')
  for (const [, member] of entry.get('litellm_params')?.members ?? []) {
    if (member !== field) member.notCarried('the model_list entry of this field is not carried')
  }
  return null
}

class DeploymentReader {
  readonly #entry: Field
  readonly #params: Field
  readonly #vendor: Vendor

  constructor(entry: Field, params: Field, vendor: Vendor) {
    this.#entry = entry
    this.#params = params
    this.#vendor = vendor
  }

  read(name: string, model: string, defaults: { timeout: number | null }): Deployment | null {
    const params = this.#params
    const address = this.#address()
    if (typeof address === 'string') return refuse(this.#entry, params.get('api_base') ?? this.#entry, address)
    const cloud = readCloud(params, this.#vendor, model)
    if (typeof cloud === 'string') return refuse(this.#entry, params.get('api_base') ?? this.#entry, cloud)
    // A prefix that ends in `/` is removed from the name anyway.
    const ownModel = model === '*' && name.endsWith('/*') ? undefined : model
    const secret = this.#secret()
    if (
      secret !== null &&
      'literal' in secret &&
      !/^[\x21-\x7e]([\x20-\x7e]{0,2046}[\x21-\x7e])?$/.test(secret.literal)
    ) {
      return refuse(
        this.#entry,
        params.get('api_key') ?? this.#entry,
        'the gateway accepts keys of 1 to 2048 printable characters',
      )
    }
    const auth = cloud?.auth ?? (secret === null ? null : authOf(secret))
    const { host, port, pathPrefix, needsTls } = address ?? { needsTls: false }
    const members = cloud?.members ?? (ownModel === undefined ? {} : { model: ownModel })
    const provider = withoutAbsent({ [this.#vendor.provider]: members, host, port, pathPrefix })
    const timeout = this.#timeout() ?? defaults.timeout
    const headers = this.#headers()
    const policies = withoutAbsent({
      auth: auth ?? undefined,
      tls: needsTls ? {} : undefined,
      http: timeout === null ? undefined : { requestTimeout: durationOf(timeout) },
      ai: requestFields(params) ?? undefined,
      transformation: headers ?? undefined,
    })
    const mode = this.#entry.get('model_info')?.get('mode')
    mode?.carried('the path of a request decides the kind of the request')
    const tested = cloud?.tested ?? address?.tested ?? this.#vendor.address
    const variable = secret !== null && 'env' in secret ? { [secret.env]: 'test-key' } : {}
    return {
      ...{ name, field: this.#entry, provider, policies: Object.keys(policies).length === 0 ? null : policies },
      ...{ weight: this.#number('weight'), order: this.#number('order'), rpm: params.get('rpm')?.number ?? null },
      ...{ tpm: params.get('tpm')?.number ?? null, price: this.#price(), mode: mode?.text ?? 'chat' },
      model: cloud === null ? ownModel : model,
      hasCredential: auth !== null || cloud !== null,
      env: { ...address?.env, ...cloud?.env, ...variable },
      tested: tested === null || cloud?.needsToken === true ? null : { address: tested },
    }
  }

  #address(): Address | string | null {
    const field = this.#params.get('api_base') ?? this.#params.get('base_url')
    if (this.#vendor.provider === 'azureopenai') return null
    if (field?.text == null) {
      if (this.#vendor.address !== null || ['bedrock', 'vertexai'].includes(this.#vendor.provider)) return null
      return 'the entry has no api_base, and LiteLLM reads the server from its environment; add api_base'
    }
    const address = addressOf(field.text, this.#vendor)
    if (typeof address === 'string') return address
    if (address.note === null) field.carried()
    else field.changed(address.note)
    return address
  }

  /** The key of the vendor: of the config, or the variable that LiteLLM reads. */
  #secret(): Secret | null {
    const field = this.#params.get('api_key')
    const secret = field === null ? null : secretOf(field)
    if (field !== null && secret !== null) {
      if ('env' in secret) field.carried()
      else field.carried('the secret is in plain text; move it to an environment variable (secretRef: { env: … })')
      return secret
    }
    const { keyVariable } = this.#vendor
    return keyVariable === null || (this.#params.get('api_base') !== null && this.#vendor.provider === 'openai')
      ? null
      : { env: keyVariable }
  }

  #timeout(): number | null {
    const field = this.#params.get('timeout') ?? this.#params.get('request_timeout')
    if (field?.number == null || field.number < 0.001) return null
    field.changed('the time limit applies until the response begins (http.requestTimeout), so streams are not cut')
    return field.number
  }

  #number(name: string): number | null {
    const field = this.#params.get(name)
    if (field?.number == null || field.number < 0) return null
    field.carried()
    return field.number
  }

  #headers(): object | null {
    const field = this.#params.get('extra_headers')
    if (field === null || !field.isMapping) return null
    const set: object[] = []
    for (const [name, value] of field.members) {
      if (value.text === null || variableOf(value.text) !== null || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
        value.notCarried(
          "the gateway's headers have literal values; an auth policy with location.header sends a secret",
        )
        continue
      }
      value.carried()
      set.push({ name: name.toLowerCase(), value: JSON.stringify(value.text) })
    }
    return set.length === 0 ? null : { request: { set } }
  }

  /** US dollars for a million tokens. */
  #price(): Deployment['price'] {
    const info = this.#entry.get('model_info')
    const at = (name: string): Field | null => this.#params.get(name) ?? info?.get(name) ?? null
    const [input, output] = [at('input_cost_per_token'), at('output_cost_per_token')]
    if (input?.number == null || output?.number == null) return null
    for (const field of [input, output])
      field.changed(
        'the gateway uses this price to choose a deployment (by: Price); configure costs in a prices policy',
      )
    const dollars = (value: number): number => Number((value * 1e6).toPrecision(12))
    return { input: dollars(input.number), output: dollars(output.number) }
  }
}

export function durationOf(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}s` : `${Math.round(seconds * 1000)}ms`
}
