import { screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { showPart } from '../testing/render.tsx'
import { GALLERY } from './entries.tsx'
import { Gallery } from './gallery.tsx'

const PARTS = join(import.meta.dirname, '../parts')

describe('the page of the parts', () => {
  test('every component of parts/ has an entry with states', async () => {
    const files = readdirSync(PARTS).filter((name) => name.endsWith('.tsx') && !name.includes('.test.'))
    const components = await Promise.all(
      files.map(async (name) => {
        const module = (await import(join(PARTS, name))) as Record<string, unknown>
        return Object.keys(module).map((part) => `${part} parts/${name}`)
      }),
    )
    const entries = GALLERY.filter(({ states }) => states.length > 0).map(({ part, file }) => `${part} ${file}`)
    assert.deepEqual(entries.toSorted(), components.flat().toSorted())
  })

  test('each part is shown in each of its states', async (t) => {
    await showPart(t, <Gallery />)
    for (const { part, states } of GALLERY) {
      const section = within(screen.getByRole('region', { name: part }))
      const shown = section.getAllByRole('term').map(({ textContent }) => textContent)
      assert.deepEqual(
        shown,
        states.map(({ name }) => name),
      )
    }
  })
})
