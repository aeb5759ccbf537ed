import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments, stringify } from 'yaml'
import type { Resource } from '../resources/resource.ts'
import { type Translated, Translator } from '../translator.ts'

/** One folder of `cases`: resources in, configs and statuses out. */
export interface GoldenCase {
  name: string
  folder: string
  resources: Resource[]
}

const root = fileURLToPath(new URL('../../cases', import.meta.url))

/** Every case, `<area>/<name>`. */
export function readCases(): GoldenCase[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === 'in.yaml')
    .map(({ parentPath }) => ({
      name: relative(root, parentPath),
      folder: parentPath,
      resources: readResources(join(parentPath, 'in.yaml')),
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function readResources(file: string): Resource[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    const [problem] = document.errors
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`)
    return document.toJS() as Resource
  })
}

export function createTranslator(): Translator {
  return new Translator({ controllerName: 'portico.dev/gateway', clusterDomain: 'cluster.local' })
}

export function translateAll(resources: readonly Resource[]): Translator {
  const translator = createTranslator()
  for (const resource of resources) translator.put(resource)
  translator.settle()
  return translator
}

/** As `out.yaml` has it. */
export function printTranslated(translated: Translated): string {
  return stringify(toPlain(translated), { lineWidth: 120, aliasDuplicateObjects: false })
}

/** Whatever order things were found in. */
export function toPlain({ gateways, statuses }: Translated): { gateways: object; statuses: object } {
  return { gateways: sorted(gateways), statuses: sorted(statuses) }
}

function sorted(map: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return Object.fromEntries([...map].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
