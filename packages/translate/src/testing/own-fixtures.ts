import { readdirSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { Resource } from '../resources/resource.ts'

/** A resource of an own kind, and what is said of it where it is wrong. */
export interface OwnFixture {
  resource: Resource
  /** Parts of what the API server says, and of what validation does; null where it is right. */
  expected: { admission: string; validation: string } | null
}

const root = new URL('../resources/fixtures/', import.meta.url)

/** Of `resources/fixtures`, valid and invalid ones. */
export function ownFixtures(verdict: 'valid' | 'invalid'): OwnFixture[] {
  const folder = new URL(`${verdict}/`, root)
  return readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => {
      const { _expected: expected = null, ...resource } = document.toJS() as Resource & {
        _expected?: OwnFixture['expected']
      }
      return { resource, expected }
    }),
  )
}
