import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { folderCycles } from './folder-cycles.ts'
import type { ImportGraph } from './import-graph.ts'

describe('folder cycles', () => {
  it('finds none where imports go one way', () => {
    assert.deepEqual(folderCycles(graphOf({ 'a/x.ts': ['b/y.ts'], 'a/z.ts': ['a/x.ts'], 'b/y.ts': ['zod'] })), [])
  })

  it('finds two folders whose files import one another, though no file does', () => {
    const graph = graphOf({
      'a/x.ts': ['b/y.ts'],
      'a/v.ts': ['b/y.ts'],
      'b/y.ts': [],
      'b/z.ts': ['a/w.ts'],
      'a/w.ts': [],
    })
    assert.deepEqual(folderCycles(graph), [{ folder: '', children: ['a', 'b'], toBreak: ['b/z.ts → a/w.ts'] }])
  })

  it('finds a circle of three folders below a folder, and of a folder and a file beside it', () => {
    const graph = graphOf({
      'top/a/x.ts': ['top/b/x.ts', 'top/b/y.ts'],
      'top/b/x.ts': ['top/c/x.ts'],
      'top/b/y.ts': ['top/c/y.ts'],
      'top/c/x.ts': [],
      'top/c/y.ts': [],
      'top/c/z.ts': ['top/a/y.ts'],
      'top/a/y.ts': [],
      'other/contract.ts': ['other/part/deep/x.ts'],
      'other/part/y.ts': ['other/contract.ts'],
      'other/part/deep/x.ts': [],
    })
    assert.deepEqual(
      folderCycles(graph).map(({ folder, children }) => [folder, children]),
      [
        ['other', ['contract.ts', 'part']],
        ['top', ['a', 'b', 'c']],
      ],
    )
    assert.deepEqual(folderCycles(graph)[1]?.toBreak, ['top/c/z.ts → top/a/y.ts'])
  })
})

function graphOf(imports: Readonly<Record<string, readonly string[]>>): ImportGraph {
  return new Map(
    Object.entries(imports).map(([file, targets]) => [
      file,
      targets.map((to) => ({ to, typeOnly: false, names: [], isDynamic: false })),
    ]),
  )
}
