import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { keyOf, pemChecks, type Resource, type TranslationResult, Translator } from '@portico/translate'
import { loadResourceChecks, type ResourceChecks } from '../../compile/resource-checks.ts'
import { filesBelow } from '../files/files-below.ts'
import { type ManifestDocument, parseManifests } from './manifest-documents.ts'
import { badConditions, fieldProblems, ignored, problem, repeated, withoutGateway } from './manifest-problems.ts'
import type { Path } from '../../schema/problem.ts'
import type { ConfigLocation, LocatedProblem } from '../located-problem.ts'

export { printProblem } from '../print-problems.ts'

export type ManifestTranslation =
  | { ok: false; problems: LocatedProblem[]; files: string[] }
  | {
      ok: true
      translated: TranslationResult
      /** The resources as written in the files. */
      resources: Resource[]
      /** Warnings about documents and fields that are not read. */
      notes: LocatedProblem[]
      /** Problems from the statuses of the resources. */
      refused: LocatedProblem[]
      files: string[]
      /** The location of a path in a resource; null for a resource that is in no file. */
      locateIn(this: void, resource: ResourceName, path: Path): ConfigLocation | null
    }

/** The kind and the name of a resource of a file. */
interface ResourceName {
  kind: string
  namespace: string
  name: string
}

/** Resources of a cluster, from a file or a folder, by the same translation as in a cluster. */
export async function translateManifests(path: string): Promise<ManifestTranslation> {
  const names = filesOf(path)
  const parsed = names.map(parseFile)
  const files = names.map((file) => resolve(file))
  const documents = parsed.flatMap((file) => file.documents)
  const problems = [...parsed.flatMap((file) => file.problems), ...repeated(documents)]
  if (problems.length > 0) return { ok: false, problems, files }
  const translator = translate(documents, await loadResourceChecks())
  const wrong = fieldProblems(documents, translator, 'wrong')
  if (wrong.length > 0) return { ok: false, problems: wrong, files }
  const ids = new Set(documents.map(({ resource }) => `${resource.kind}/${keyOf(resource)}`))
  // Problems of the implicit GatewayClass are not reported.
  const given = new Map([...translator.statuses].filter(([id]) => ids.has(id)))
  return {
    ok: true,
    resources: documents.map(({ resource }) => resource),
    translated: {
      gateways: translator.gateways,
      endpoints: translator.endpoints,
      statuses: given,
      planeOf: (key) => translator.planeOf(key),
      membersOf: (plane) => translator.membersOf(plane),
    },
    notes: [
      ...ignored(documents),
      ...fieldProblems(documents, translator, 'unknown'),
      ...withoutGateway(documents, translator),
    ],
    refused: badConditions(documents, translator),
    files,
    locateIn: ({ kind, namespace, name }, path) =>
      documents
        .find(
          ({ resource: { kind: other, metadata } }) =>
            other === kind && metadata.name === name && (metadata.namespace ?? '') === namespace,
        )
        ?.locationOf(path) ?? null,
  }
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return filesBelow(path).filter((file) => /\.(ya?ml|json)$/.test(file))
}

function parseFile(file: string): ReturnType<typeof parseManifests> {
  try {
    return parseManifests(readFileSync(file, 'utf8'), file)
  } catch (error) {
    const found = `found a file that cannot be read (${(error as Error).message})`
    const location = { file, line: 1, column: 1 }
    return { documents: [], problems: [{ ...problem({ found, expected: 'a file of resources' }), location }] }
  }
}

function translate(documents: readonly ManifestDocument[], checks: ResourceChecks): Translator {
  const translator = new Translator({
    controllerName: CONTROLLER,
    clusterDomain: 'cluster.local',
    externalNames: [],
    withoutSlices: 'dns',
    verify: 'skipped',
    pem: pemChecks,
    checks,
  })
  // Without a cluster, no controller creates the class.
  translator.put(CLASS)
  for (const { resource } of documents) translator.put(resource)
  translator.findQuarantined(translator.settle().gateways)
  return translator
}

const CONTROLLER = 'portico.dev/gateway'
const CLASS: Resource = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'portico' },
  spec: { controllerName: CONTROLLER },
}

/** The problem of a missing or ambiguous Gateway. */
export function gatewayProblem(file: string, { gateways }: TranslationResult, wanted: string | null): LocatedProblem {
  const names = [...gateways.keys()].toSorted().join(', ')
  const found =
    wanted !== null
      ? `found no Gateway ${wanted} of class portico${names === '' ? '' : `, but ${names}`}`
      : names === ''
        ? 'found no Gateway of class portico'
        : `found several Gateways: ${names}`
  const expected = names === '' ? 'one' : 'one of them, chosen by --gateway namespace/name'
  return { ...problem({ found, expected }), location: { file, line: 1, column: 1 } }
}
