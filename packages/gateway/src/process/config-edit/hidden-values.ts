import { isDeepStrictEqual } from 'node:util'
import { printPath, type Path } from '../../schema/problem.ts'
import { commentsOf } from '../../redaction/redact-comments.ts'
import { commentsShown, HIDDEN, redactedConfigText } from '../admin/redacted-text.ts'
import { AlignedTrees } from './aligned-trees.ts'
import { EditedText, placeAt, type TextEdit } from './edited-text.ts'
import { type Leaf, parseText, writtenTree } from './yaml-leaves.ts'

/** Something about one place of an edited text. */
export interface PlacedRefusal {
  path: string
  line: number
  column: number
  text: string
}

export type RestoreResult = { ok: true; edited: EditedText; values: string[] } | { ok: false; refused: PlacedRefusal[] }

/**
 * Puts back what `redactedConfigText` has hidden: a mask that stands where it stood becomes what stood there in `source`. A mask
 * anywhere else is refused, and so is an edit that would have a hidden value shown. `text` is valid YAML.
 */
export function restoreHidden(text: string, source: string): RestoreResult {
  if (!text.includes(HIDDEN)) return { ok: true, edited: new EditedText(text, []), values: [] }
  const shown = redactedConfigText(source)
  if (shown === null)
    return refuse([at(text, [], 0, 'hidden values cannot be put back: what they are is in broken YAML')])
  const values = findValues(text, source, shown)
  const comments = findComments(text, source)
  const refused = [...values.refused, ...comments.refused]
  if (refused.length > 0) return refuse(refused)
  // A value over several lines may not fit where the lines around it have changed.
  for (const form of ['written', 'quoted'] as const) {
    const edits = values.found.flatMap((found) => editOf(text, source, found, form))
    const edited = new EditedText(text, [...edits, ...comments.edits])
    const wrong = faultsOf(text, edited.text, values.found)
    if (wrong === null) continue
    return wrong.length > 0 ? refuse(wrong) : { ok: true, edited, values: textsOf(values.found) }
  }
  return refuse(
    values.found.map(({ leaf }) => at(text, leaf.path, leaf.from, 'the hidden value cannot be put back here')),
  )
}

/** A mask, and the value that it stands for. */
interface MaskedValue {
  leaf: Leaf
  origin: Leaf
}

function findValues(text: string, source: string, shown: string): { found: MaskedValue[]; refused: PlacedRefusal[] } {
  const [now, before, masked] = [text, source, shown].map((each) => writtenTree(parseText(each)))
  const found: MaskedValue[] = []
  const refused: PlacedRefusal[] = []
  if (now === undefined || before === undefined || masked === undefined) return { found, refused }
  const aligned = new AlignedTrees(masked.tree, now.tree, false)
  const [origins, masks] = [before.leaves, masked.leaves].map(
    (leaves) => new Map(leaves.map((leaf) => [id(leaf.path), leaf])),
  )
  for (const key of maskedKeys(now.tree, [])) refused.push(at(text, key, 0, 'found a hidden value as a key'))
  for (const leaf of now.leaves) {
    if (typeof leaf.value !== 'string' || !leaf.value.includes(HIDDEN)) continue
    const path = aligned.origin(leaf.path)
    const mask = path === null ? undefined : masks?.get(id(path))
    const origin = path === null ? undefined : origins?.get(id(path))
    if (origin !== undefined && mask?.value === leaf.value) found.push({ leaf, origin })
    else
      refused.push(
        at(text, leaf.path, leaf.from, `found ${HIDDEN} where no such value was hidden: write the value itself`),
      )
  }
  return { found, refused }
}

function maskedKeys(tree: unknown, path: Path): Path[] {
  if (typeof tree !== 'object' || tree === null) return []
  return Object.entries(tree).flatMap(([key, value]) => {
    const step = [...path, Array.isArray(tree) ? Number(key) : key]
    return [...(key.includes(HIDDEN) ? [step] : []), ...maskedKeys(value, step)]
  })
}

/** Comments have no path: one is told by what is left of it, where that can mean but one. */
function findComments(text: string, source: string): { edits: TextEdit[]; refused: PlacedRefusal[] } {
  const known = Map.groupBy(commentsShown(source), ({ shown }) => shown)
  const masked = commentsOf(text).filter(({ comment }) => comment.includes(HIDDEN))
  const edits: TextEdit[] = []
  const refused: PlacedRefusal[] = []
  for (const [comment, places] of Map.groupBy(masked, (each) => each.comment)) {
    const origins = known.get(comment) ?? []
    const isClear = origins.length === places.length || new Set(origins.map((origin) => origin.comment)).size === 1
    for (const [i, { from }] of places.entries()) {
      const origin = origins[i] ?? origins[0]
      if (isClear && origin !== undefined) edits.push({ from, to: from + comment.length, replacement: origin.comment })
      else
        refused.push(
          at(text, [], from, `found ${HIDDEN} in a comment where nothing was hidden: write it out, or take it away`),
        )
    }
  }
  return { edits, refused }
}

function editOf(text: string, source: string, { leaf, origin }: MaskedValue, form: 'written' | 'quoted'): TextEdit[] {
  if (origin.value === leaf.value) return []
  const written = source.slice(origin.from, origin.to)
  const lines = written.split('\n').length - 1
  // The empty lines that kept the place of the others go with the mask.
  const [empty = ''] = new RegExp(`^(?:[ \\t]*\\n){0,${lines}}`).exec(text.slice(leaf.to)) ?? []
  if (lines === 0 || form === 'written')
    return [{ from: leaf.from, to: leaf.to + (lines === 0 ? 0 : empty.length), replacement: written }]
  return [{ from: leaf.from, to: leaf.to, replacement: JSON.stringify(origin.value) }]
}

/** Null where the result does not say what is meant; the places where something hidden would be seen. */
function faultsOf(text: string, restored: string, found: readonly MaskedValue[]): PlacedRefusal[] | null {
  const document = parseText(restored)
  const shown = document.errors.length > 0 ? null : redactedConfigText(restored)
  if (shown === null) return null
  const { tree } = writtenTree(document)
  const wanted = writtenTree(parseText(text)).tree
  if (!isDeepStrictEqual(tree, withValues(wanted, found))) return null
  const masks = new Map(writtenTree(parseText(shown)).leaves.map(({ path, value }) => [id(path), value]))
  return found
    .filter(({ leaf }) => masks.get(id(leaf.path)) !== leaf.value)
    .map(({ leaf }) =>
      at(text, leaf.path, leaf.from, 'the value that is hidden here would be shown: write the value itself'),
    )
}

function withValues(tree: unknown, found: readonly MaskedValue[]): unknown {
  const values = new Map(found.map(({ leaf, origin }) => [id(leaf.path), origin.value]))
  const walk = (node: unknown, path: Path): unknown => {
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]))
    if (typeof node === 'object' && node !== null)
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value, [...path, key])]))
    return values.has(id(path)) ? values.get(id(path)) : node
  }
  return walk(tree, [])
}

function textsOf(found: readonly MaskedValue[]): string[] {
  return found.flatMap(({ leaf, origin }) => (origin.value === leaf.value ? [] : [String(origin.value)]))
}

function id(path: Path): string {
  return JSON.stringify(path)
}

function at(source: string, path: Path, offset: number, text: string): PlacedRefusal {
  return { path: printPath(path), ...placeAt(source, offset), text }
}

function refuse(refused: PlacedRefusal[]): RestoreResult {
  return { ok: false, refused }
}
