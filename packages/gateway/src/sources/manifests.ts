import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type Condition,
  type Kind,
  keyOf,
  kindOf,
  pemChecks,
  type Resource,
  type Status,
  Translator,
} from '@portico/translate'
import type { Ir } from '../ir/resources.ts'
import type { Path, Problem } from '../schema/problem.ts'
import { type LoadResult, loadConfig } from './file.ts'
import { type ManifestDocument, parseManifests } from './manifest-documents.ts'
import type { PlacedProblem } from './placed-problem.ts'
import type { Environment } from './substitute.ts'

export interface ManifestOptions {
  /** `namespace/name` of the Gateway to run; null where there is only one. */
  gateway: string | null
  env: Environment
}

/** Resources of a cluster, from a file or a folder, as the config of one Gateway: the same translation as in a cluster. */
export function loadManifests(path: string, { gateway, env }: ManifestOptions): LoadResult {
  const files = filesOf(path)
  const parsed = files.map((file) => parseManifests(readFileSync(file, 'utf8'), file))
  const named = files.map((file) => resolve(file))
  const problems = parsed.flatMap((file) => file.problems)
  const documents = parsed.flatMap((file) => file.documents)
  problems.push(...problemsOf(documents))
  // Settings of the process come from the environment alone.
  const base = loadConfig('config: {}\n', { file: path, dir: '.', env })
  if (!base.ok) problems.push(...base.problems)
  if (problems.length > 0 || !base.ok) return { ok: false, problems, files: named }
  const translator = translate(documents)
  const wrong = fieldProblems(documents, translator, 'wrong')
  if (wrong.length > 0) return { ok: false, problems: wrong, files: named }
  const chosen = chooseGateway(translator, gateway)
  const ir = translator.gateways.get(chosen ?? '')
  if (chosen === null || ir === undefined) {
    return { ok: false, problems: [gatewayProblem(path, translator, gateway)], files: named }
  }
  return {
    ok: true,
    gateway: chosen,
    ir: withExports(ir, base.ir),
    process: base.process,
    files: named,
    warnings: [
      ...ignored(documents),
      ...fieldProblems(documents, translator, 'unknown'),
      ...bad(documents, translator),
    ],
    endpoints: translator.endpoints.get(chosen) ?? {},
    explain: ({ message }) => message,
  }
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/.test(entry.name) && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

/** Collectors that the environment names. */
function withExports(ir: Ir, base: Ir): Ir {
  return { ...ir, backends: [...ir.backends, ...base.backends], policies: [...base.policies, ...ir.policies] }
}

function translate(documents: readonly ManifestDocument[]): Translator {
  const translator = new Translator({
    controllerName: CONTROLLER,
    clusterDomain: 'cluster.local',
    withoutSlices: 'dns',
    pem: pemChecks,
  })
  // Without a cluster there is nobody to create it.
  translator.put(CLASS)
  for (const { resource } of documents) translator.put(resource)
  translator.settle()
  return translator
}

const CONTROLLER = 'portico.dev/gateway'
const CLASS: Resource = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'portico' },
  spec: { controllerName: CONTROLLER },
}

function chooseGateway({ gateways }: Translator, wanted: string | null): string | null {
  if (wanted !== null) return gateways.has(wanted) ? wanted : null
  const [only, ...others] = gateways.keys()
  return only === undefined || others.length > 0 ? null : only
}

function gatewayProblem(file: string, { gateways }: Translator, wanted: string | null): PlacedProblem {
  const names = [...gateways.keys()].toSorted().join(', ')
  const found =
    wanted !== null
      ? `found no Gateway ${wanted} of class portico${names === '' ? '' : `, but ${names}`}`
      : names === ''
        ? 'found no Gateway of class portico'
        : `found several Gateways: ${names}`
  const expected = names === '' ? 'one' : 'one of them, chosen by --gateway namespace/name'
  return { ...problem({ found, expected }), place: { file, line: 1, column: 1 } }
}

/** What says the same twice. */
function problemsOf(documents: readonly ManifestDocument[]): PlacedProblem[] {
  const seen = new Set<string>()
  return documents.flatMap(({ resource, placeOf }) => {
    const id = `${resource.apiVersion} ${resource.kind} ${keyOf(resource)}`
    if (seen.size < seen.add(id).size) return []
    const found = `found ${resource.kind} ${keyOf(resource)} a second time`
    return [{ ...problem({ found, expected: 'each resource once' }), place: placeOf([]) }]
  })
}

function ignored(documents: readonly ManifestDocument[]): PlacedProblem[] {
  return documents
    .filter(({ resource }) => kindOf(resource) === null)
    .map(({ resource: { apiVersion, kind }, placeOf }) => {
      const found = `found ${kind} of ${apiVersion}, which is ignored`
      return { ...problem({ found, expected: 'kinds that a gateway is made of' }), place: placeOf(['kind']) }
    })
}

function fieldProblems(
  documents: readonly ManifestDocument[],
  translator: Translator,
  code: 'wrong' | 'unknown',
): PlacedProblem[] {
  return known(documents).flatMap(({ kind, resource, placeOf }) =>
    translator
      .problemsOf(kind, keyOf(resource))
      .filter((each) => each.code === code)
      .map(({ path, message }) => {
        const found = `found a value that ${message}`
        const phrases = code === 'wrong' ? { found, expected: 'what its kind allows' } : { ...UNKNOWN_FIELD }
        return { ...problem(phrases, path), place: placeOf(path) }
      }),
  )
}

const UNKNOWN_FIELD = { found: 'found a field that is not supported and was ignored', expected: 'supported ones' }

/** Conditions that are not as they should be. */
function bad(documents: readonly ManifestDocument[], { statuses }: Translator): PlacedProblem[] {
  return known(documents).flatMap(({ kind, resource, placeOf }) => {
    const id = `${kind}/${keyOf(resource)}`
    const status = statuses.get(id)
    const name = `${kind} ${keyOf(resource)}`
    const place = placeOf([])
    if (status === undefined) {
      if (!kind.endsWith('Route')) return []
      return [
        {
          ...problem({ found: `found ${name} without a Gateway of class portico`, expected: 'one in parentRefs' }),
          place,
        },
      ]
    }
    return conditionsOf(status)
      .filter(({ type, status: now, reason }) => {
        // Of a policy that is taken for a part of it the rest is told too.
        return (now === 'True') === SHOULD_BE_FALSE.has(type) || reason === 'PartiallyValid'
      })
      .map(({ where, type, reason, message }) => {
        const found = `found ${name}${where} not as it should be: ${type} (${reason}): ${message}`
        return { ...problem({ found, expected: 'a resource without problems' }), place }
      })
  })
}

const SHOULD_BE_FALSE: ReadonlySet<string> = new Set([
  'Conflicted',
  'PartiallyInvalid',
  'InsecureFrontendValidationMode',
])

function conditionsOf(status: Status): (Condition & { where: string })[] {
  const of = (where: string, conditions: readonly Condition[]) => conditions.map((each) => ({ ...each, where }))
  return [
    ...('conditions' in status ? of('', status.conditions) : []),
    ...('listeners' in status
      ? status.listeners.flatMap(({ name, conditions }) => of(`, listener ${name},`, conditions))
      : []),
    ...('parents' in status ? status.parents.flatMap(({ conditions }) => of('', conditions)) : []),
    ...('ancestors' in status ? status.ancestors.flatMap(({ conditions }) => of('', conditions)) : []),
  ]
}

function known(documents: readonly ManifestDocument[]): (ManifestDocument & { kind: Kind })[] {
  return documents.flatMap((document) => {
    const kind = kindOf(document.resource)
    return kind === null ? [] : [{ ...document, kind }]
  })
}

function problem(phrases: { found: string; expected: string }, path: Path = []): Problem {
  return { code: 'conflict', path, at: 'value', suggestion: null, ...phrases }
}
