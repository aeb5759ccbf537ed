import { readdirSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { Resource } from '../resources/resource.ts'

/** A resource of one of our kinds, with the expected problems. */
interface OwnFixture {
  resource: Resource
  /** Parts of the expected messages of the API server and of validation; null for a valid resource. */
  expected: { admission: string; validation: string } | null
}

const root = new URL('../resources/fixtures/', import.meta.url)

/** Reads the valid or the invalid fixtures of `resources/fixtures`. */
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
