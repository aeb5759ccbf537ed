import type { NamedBackend } from '../named-backend.ts'
import { parseBackendUrl, parseHostTarget, urlKey } from '../../formats/address.ts'
import { fileOnly, list, localForm, map, object, Refusal, scalar } from '../kit.ts'
import { exactlyOneOf, requiredWhen } from '../rules.ts'
import type { ContentsReference, Entries, JsonObject, Output, ParseText, ReferredObjects, Schema } from '../kit.ts'
import { namePattern } from './names.ts'
import { enumeration, port, string } from './values.ts'

/** Values that refer to something else: contents of files, environment variables, backends. */

const longestPath = 4_096
const filePathJson: JsonObject = { type: 'string', minLength: 1, maxLength: longestPath, pattern: '^[^\\0]+$' }
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/

/** The path of a PEM file, relative to the folder of the config file; the output is the text of the file. */
export function pemFile(pem: NonNullable<ContentsReference['pem']>): Schema<string> {
  return scalar<string>(readPath, {
    type: 'string',
    expected: 'the path of a file',
    json: filePathJson,
    refers: { to: 'contents', locate: locateFile, expected: 'a PEM file', pem, read: (text) => text },
  })
}

/** The path of a text file, relative to the folder of the config file; the output is the result of `read`. */
export function textFile<Out>(expected: string, read: (text: string, parse: ParseText) => Out | Refusal): Schema<Out> {
  return scalar<Out>((input) => unread(readPath(input)), {
    type: 'string',
    expected: 'the path of a file',
    json: filePathJson,
    refers: { to: 'contents', locate: locateFile, expected, pem: null, read },
  })
}

/** A secret in a file or in the environment, as `{file: path}` or `{env: NAME}`; the output is the result of `read`. */
export function secret<Out>(expected: string, read: (text: string) => Out | Refusal): Schema<Out> {
  return scalar<Out>((input) => (locateSecret(input) === null ? new Refusal('bad_format') : unread(input)), {
    type: 'secret',
    expected: '`{file: path}` or `{env: NAME}`',
    json: secretJson,
    refers: { to: 'contents', locate: locateSecret, expected, pem: null, read: (text) => read(withoutLineEnd(text)) },
  })
}

export const secretJson: JsonObject = {
  type: 'object',
  additionalProperties: false,
  properties: { file: filePathJson, env: { type: 'string', pattern: variablePattern.source } },
  minProperties: 1,
  maxProperties: 1,
}

/** The location of a secret; null unless the input has one of the two forms. */
export function locateSecret(input: unknown): { file: string } | { env: string } | null {
  if (typeof input !== 'object' || input === null || Object.keys(input).length !== 1) return null
  if ('file' in input) return locateFile(input.file)
  if ('env' in input && typeof input.env === 'string' && variablePattern.test(input.env)) return { env: input.env }
  return null
}

/** Removes the final line break, which editors add and which is not part of a secret. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}

/** A reference to an object of the same namespace, in the syntax of custom resources. */
export function objectReference() {
  return object({
    name: string({ min: 1, max: 253 }).describe('Name of the object in the same namespace.'),
  }).describe('A reference to an object.')
}

/** Selects objects by labels, in the syntax of custom resources; an empty selector means all. */
export function labelSelector() {
  const label = string({ max: 63 }).describe('Value of the label.')
  const name = string({ min: 1, max: 317 }).describe('Name of the label.')
  return object({
    matchLabels: map(label, { max: 64 }).optional().describe('Labels; an object must have all of them.'),
    matchExpressions: list(
      object({
        key: name,
        operator: enumeration(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('Comparison operator.'),
        values: list(label, { max: 64 }).optional().describe('Values for `In` and `NotIn`.'),
      }).describe('A condition.'),
      { max: 64 },
    )
      .optional()
      .describe('Conditions on labels; all must be met.'),
  })
}

export type LabelSelectorConfig = Output<ReturnType<typeof labelSelector>>

/** An inline value in the file; in custom resources, the entry `key` of a Secret of the same namespace. */
export function orSecretEntry<S extends Schema>(
  schema: S,
  key: string,
  read: (text: string) => Output<S> | Refusal,
): S {
  return localForm(schema, objectReference(), ({ name }, objects) => {
    const text = entryOf(`Secret \`${name}\``, objects.secret(name), key)
    return text instanceof Refusal ? text : withinSecret(name, read(text.trim()))
  })
}

export function entryOf(place: string, entries: Entries | Refusal, key: string): string | Refusal {
  if (entries instanceof Refusal) return entries
  return Object.hasOwn(entries, key)
    ? (entries[key] ?? '')
    : new Refusal('missing_key', { detail: `${place} has no entry \`${key}\`` })
}

/** Names the Secret at fault, and nothing of its contents. */
export function withinSecret<Out>(name: string, read: Out | Refusal): Out | Refusal {
  if (!(read instanceof Refusal)) return read
  return new Refusal(read.code, { detail: `Secret \`${name}\` holds ${read.detail ?? 'something else'}` })
}

/** A reference to a Service or a backend, in the syntax of custom resources. */
function backendObjectReference() {
  return object(
    {
      group: string({ max: 253 }).prefault('').describe('API group of the object; empty for a Service.'),
      kind: string({ min: 1, max: 63 }).prefault('Service').describe('Kind of the object.'),
      name: string({ min: 1, max: 253 }).describe('Name of the object.'),
      namespace: string({ min: 1, max: 63 })
        .optional()
        .describe(
          'Namespace of the object; the namespace of the reference when unset. Another namespace needs a ReferenceGrant there.',
        ),
      port: port().optional().describe('Port of a Service.'),
    },
    [requiredWhen('port', 'kind', 'Service')],
  ).describe('A reference to a Service or a backend.')
}

type BackendObjectReference = Output<ReturnType<typeof backendObjectReference>>

/** The name of a backend in the file, an object reference in custom resources; the output is the key of the backend. */
export function namedBackendReference() {
  return localForm(
    object({ name: backendName({ fixed: true }).describe('Name of a backend of the top-level `backends`.') }),
    backendObjectReference(),
    settleBackend,
  )
}

function settleBackend(reference: BackendObjectReference, objects: ReferredObjects): { name: string } | Refusal {
  const key = objects.backend(reference)
  return key instanceof Refusal ? key : { name: key }
}

/** The key of the IR resource of a backend in the top-level `backends`. */
export function backendKey(name: string): string {
  return `backend/${name}`
}

/**
 * The name of a backend in the top-level `backends`; the output is its key. `fixed` rejects backends whose destination
 * clients choose.
 */
export function backendName({ fixed = false } = {}): Schema<string> {
  return backendScalar(locateName, fixed, {
    type: 'backend',
    expected: 'the name of a backend in the top-level `backends`',
    json: { type: 'string', minLength: 1, maxLength: 63, pattern: namePattern.source },
  })
}

/** The name of an `ai` backend in the top-level `backends`; the output is its key. */
export function backendOfModels(): Schema<string> {
  return backendScalar(locateName, 'ai', {
    type: 'backend',
    expected: 'the name of an `ai` backend in the top-level `backends`',
    json: { type: 'string', minLength: 1, maxLength: 63, pattern: namePattern.source },
  })
}

/** The name of a backend, or `host:port` for a backend without a name; the output is its key. */
export function backendReference(): Schema<string> {
  return backendScalar((text) => locateName(text) ?? locateHost(text), false, {
    type: 'backend',
    expected: 'the name of a backend, or `host:port`',
    json: { type: 'string', minLength: 1, maxLength: 512 },
  })
}

/** The `host:port` of a backend without a name; the output is its key. */
function backendHost(): Schema<string> {
  return backendScalar(locateHost, true, {
    type: 'backend',
    expected: '`host:port`',
    json: { type: 'string', minLength: 1, maxLength: 512 },
  })
}

/** A service that a policy calls; the output is the key of its backend. Clients cannot choose its destination. */
export function serviceReference() {
  return localForm(
    object(
      {
        name: backendName({ fixed: true }).optional().describe('Name of a backend of the top-level `backends`.'),
        host: fileOnly(
          backendHost().optional().describe('Address of a service that is not in `backends`, as `host:port`.'),
        ),
      },
      [exactlyOneOf('name', 'host')],
    ),
    backendObjectReference(),
    settleBackend,
  )
}

/**
 * An absolute URL that the gateway itself calls; the output has the key of a backend for the origin, the authority and
 * the path.
 */
export function backendUrl(): Schema<{ backend: string; authority: string; path: string }> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      const url = parseBackendUrl(input)
      return url === null
        ? new Refusal('bad_format')
        : { backend: urlKey(url), authority: url.authority, path: url.path }
    },
    {
      type: 'URL',
      expected: 'a URL such as `https://idp.example.com/keys`, without user or fragment',
      json: { type: 'string', minLength: 8, maxLength: 2_048, pattern: '^[hH][tT][tT][pP][sS]?://' },
      refers: { to: 'backend', fixed: true, locate: locateUrl },
    },
  )
}

function backendScalar(
  locate: (text: string) => NamedBackend | null,
  fixed: boolean | 'ai',
  node: { type: string; expected: string; json: JsonObject },
): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      const found = locate(input)
      if (found === null) return new Refusal('bad_format')
      return found.kind === 'name' ? backendKey(found.name) : found.key
    },
    {
      ...node,
      refers: {
        to: 'backend',
        fixed: fixed === true,
        ...(fixed === 'ai' && { kind: fixed }),
        locate: (input) => (typeof input === 'string' ? locate(input) : null),
      },
    },
  )
}

function locateName(text: string): NamedBackend | null {
  return namePattern.test(text) ? { kind: 'name', name: text } : null
}

function locateHost(text: string): NamedBackend | null {
  const target = parseHostTarget(text)
  return target === null ? null : { kind: 'host', key: `host/${text}`, target }
}

function locateUrl(input: unknown): NamedBackend | null {
  const url = typeof input === 'string' ? parseBackendUrl(input) : null
  return url === null ? null : { kind: 'url', key: urlKey(url), url }
}

function readPath(input: unknown): string | Refusal {
  if (typeof input !== 'string') return new Refusal('wrong_type')
  if (input.length < 1 || input.length > longestPath) return new Refusal('out_of_range')
  return input.includes('\0') ? new Refusal('bad_format') : input
}

function locateFile(input: unknown): { file: string } | null {
  const path = readPath(input)
  return typeof path === 'string' ? { file: path } : null
}

/** A placeholder until `sources` has read the value; a config with an unread value is rejected. */
export function unread<Out>(reason: unknown): Out | Refusal {
  return reason instanceof Refusal ? reason : (null as Out)
}
