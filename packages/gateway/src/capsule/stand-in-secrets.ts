import { createHash } from 'node:crypto'
import { nodeOf, type Schema } from '../schema/kit.ts'
import type { Ir } from '../ir/resources.ts'
import { policiesOf } from '../config-tests/credential-policies.ts'
import { EXPRESSION_KEYS, redact, RESOURCE_KEYS } from '../redaction/redact.ts'
import { redactBySchema } from '../redaction/redact-by-schema.ts'
import { REDACTED } from '../redaction/secret-names.ts'
import { configFile } from '../sources/schema.ts'
import { STAND_IN } from '../recorded-tests/sent-request.ts'
import { STAND_IN_CERTIFICATE, STAND_IN_KEY } from './stand-in-certificate.ts'

/**
 * Replaces the secrets of a config by stand-ins. Equal secrets get equal stand-ins, so that comparisons of secrets keep
 * their results.
 */
export class StandInSecrets {
  readonly #standIns = new Map<string, string>()
  readonly #made = new Set([STAND_IN_CERTIFICATE, STAND_IN_KEY, PASSWORD_HASH])

  get isEmpty(): boolean {
    return this.#standIns.size === 0
  }

  /** Returns the config without its secrets. */
  replaceIn(ir: Ir): Ir {
    const copy = structuredClone(ir)
    this.#replaceCredentials(copy)
    for (const listener of copy.listeners) {
      if (listener.tls === null) continue
      const { others: _others, ...tls } = listener.tls
      this.#note(tls.key)
      for (const { key } of listener.tls.others ?? []) this.#note(key)
      listener.tls = { ...tls, cert: STAND_IN_CERTIFICATE, key: STAND_IN_KEY }
    }
    const clean = redact(copy, PLAIN_KEYS) as Ir
    const policies = clean.policies.map((policy) => ({
      ...policy,
      traffic: redactBySchema(SECTIONS.traffic, policy.traffic, nodeOf),
      backend: redactBySchema(SECTIONS.backend, policy.backend, nodeOf),
    }))
    return this.#merge({ ...clean, policies }, copy, []) as Ir
  }

  /** Returns a value in which stand-ins replace the secrets of the config, also within longer texts. */
  scrub<Value>(value: Value): Value {
    return mapTexts(value, (text) => this.scrubText(text)) as Value
  }

  scrubText(text: string): string {
    let scrubbed = text
    for (const [secret, standIn] of this.#longestFirst) scrubbed = scrubbed.replaceAll(secret, () => standIn)
    return scrubbed
  }

  /** Whether a text contains a secret of the config. */
  isIn(text: string): boolean {
    return this.#longestFirst.some(
      ([secret]) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
    )
  }

  /** The secrets that are long enough to be recognized within a text, the longest first. */
  get #longestFirst(): [secret: string, standIn: string][] {
    return [...this.#standIns]
      .filter(([secret]) => secret.length >= SHORTEST)
      .toSorted(([a], [b]) => b.length - a.length)
  }

  #note(secret: string): string {
    const known = this.#standIns.get(secret)
    if (known !== undefined) return known
    const made = `${STAND_IN}-${this.#standIns.size + 1}`
    this.#standIns.set(secret, made)
    this.#made.add(made)
    return made
  }

  /** Replaces API keys and passwords by stand-ins in the form that the policy expects. The names of keys and users stay. */
  #replaceCredentials(ir: Ir): void {
    const { apiKeys, basic } = policiesOf(ir)
    for (const [, entry] of apiKeys.flatMap(({ entries }) => entries)) {
      if (entry.keyHash !== undefined) this.#note(entry.keyHash)
      const made = this.#note(entry.key ?? entry.keyHash ?? '')
      entry.key = made
      delete entry.keyHash
    }
    for (const user of new Set(basic.flatMap(({ users }) => users))) {
      this.#note(user.hash)
      user.hash = PASSWORD_HASH
    }
  }

  /** Returns the original value with a stand-in for each text that the redacted copy hides. */
  #merge(clean: unknown, original: unknown, path: readonly string[]): unknown {
    if (typeof original === 'string') return this.#text(clean, original, path)
    if (typeof original !== 'object' || original === null) return original
    const at = (name: string): unknown =>
      typeof clean === 'object' && clean !== null ? (clean as Record<string, unknown>)[name] : clean
    if (Array.isArray(original)) {
      return original.map((each, index) => this.#merge(at(String(index)), each, [...path, String(index)]))
    }
    const members = Object.entries(original).map(
      ([name, value]) => [name, this.#merge(at(name), value, [...path, name])] as const,
    )
    // A certificate is replaced with its private key, because both must fit.
    const hasKey = members.some(([, value]) => value === STAND_IN_KEY)
    const isOfKey = (name: string, value: unknown): boolean =>
      hasKey && typeof value === 'string' && value.includes('BEGIN CERTIFICATE') && !/root|ca/i.test(name)
    return Object.fromEntries(
      members.map(([name, value]) => [name, isOfKey(name, value) ? STAND_IN_CERTIFICATE : value]),
    )
  }

  #text(clean: unknown, original: string, path: readonly string[]): string {
    if (this.#isStandIn(original, path)) return original
    const isHidden = isSecretPath(path) || clean === REDACTED || typeof clean !== 'string'
    if (isHidden) return this.#secret(original)
    return clean === original ? original : clean.replaceAll(REDACTED, STAND_IN)
  }

  /** Returns the stand-in of a secret text; a string literal in an expression keeps its quotes. */
  #secret(original: string): string {
    const [, quote = '', inner = original] = /^(["'])(.*)\1$/s.exec(original) ?? []
    const made = this.#note(inner)
    return original.includes('PRIVATE KEY-----') ? STAND_IN_KEY : quote + made + quote
  }

  /** Whether a text needs no stand-in, because it is a stand-in or the name of a user. */
  #isStandIn(text: string, path: readonly string[]): boolean {
    const isName = path.at(-1) === 'username' && path.includes('basicAuthentication')
    return isName || this.#made.has(text)
  }
}

/**
 * Whether all texts at a path are secrets: those in files and in variables, but not the `metadata` of a key, which
 * describes its owner.
 */
function isSecretPath(path: readonly string[]): boolean {
  const at = Math.max(path.indexOf('secretRef'), path.indexOf('env'))
  return at !== -1 && at < path.length - 1 && !path.includes('metadata')
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [change(name), mapTexts(child, change)]))
}

/** Returns the schema of a section's policies in the config file. */
function sectionSchema(section: 'traffic' | 'backend'): Schema {
  const policies = fieldOf(configFile, 'policies')
  const node = nodeOf(policies)
  if (node.kind !== 'list') throw new Error('policies are a list')
  return fieldOf(node.item, section)
}

function fieldOf(schema: Schema, name: string): Schema {
  const node = nodeOf(schema)
  const field = node.kind === 'object' ? node.fields[name] : undefined
  if (field === undefined) throw new Error(`the config file has no ${name}`)
  return field
}

const SECTIONS = { traffic: sectionSchema('traffic'), backend: sectionSchema('backend') }
/** The paths of fields that are no secrets in spite of their names, such as the keys of resources, and expressions. */
const PLAIN_KEYS = [...RESOURCE_KEYS, ...EXPRESSION_KEYS, 'targets.*.key']
const PASSWORD_HASH = `{SHA}${createHash('sha1').update(STAND_IN).digest('base64')}`
/** The shortest secret that is replaced within texts, because shorter ones occur inside of words. */
const SHORTEST = 6
