import { isDeepStrictEqual } from 'node:util'
import { printPath, type Path } from '../../schema/problem.ts'
import { commentsOf } from '../../redaction/redact-comments.ts'
import { commentsShown, HIDDEN, redactedConfigText } from '../admin/redacted-text.ts'
import { AlignedTrees } from './aligned-trees.ts'
import { EditedText, positionAt, type TextEdit } from './edited-text.ts'
import { type Leaf, parseText, writtenTree } from './yaml-leaves.ts'

/** A rejected part of an edited text. */
export interface LocatedRefusal {
  path: string
  line: number
  column: number
  text: string
}

type RestoreResult = { ok: true; edited: EditedText; values: string[] } | { ok: false; refused: LocatedRefusal[] }

/**
 * Restores the values that `redactedConfigText` redacted: a mask at its old position becomes the value from `source`. A mask
 * anywhere else is rejected, and so is an edit that would reveal a redacted value. `text` is valid YAML.
 */
export function restoreHidden(text: string, source: string): RestoreResult {
  if (!text.includes(HIDDEN)) return { ok: true, edited: new EditedText(text, []), values: [] }
  const shown = redactedConfigText(source)
  if (shown === null)
    return rejectEdit([at(text, [], 0, 'redacted values cannot be restored: the current file is not valid YAML')])
  const values = findValues(text, source, shown)
  const comments = findComments(text, source)
  const refused = [...values.refused, ...comments.refused]
  if (refused.length > 0) return rejectEdit(refused)
  // A value over several lines may not fit when the lines around it have changed, so it is quoted then.
  for (const form of ['written', 'quoted'] as const) {
    const edits = values.found.flatMap((found) => editOf(text, source, found, form))
    const edited = new EditedText(text, [...edits, ...comments.edits])
    const wrong = faultsOf(text, edited.text, values.found)
    if (wrong === null) continue
    return wrong.length > 0 ? rejectEdit(wrong) : { ok: true, edited, values: textsOf(values.found) }
  }
  return rejectEdit(
    values.found.map(({ leaf }) => at(text, leaf.path, leaf.from, 'the redacted value cannot be restored here')),
  )
}

/** A mask, and the value that it stands for. */
interface MaskedValue {
  leaf: Leaf
  origin: Leaf
}

function findValues(text: string, source: string, shown: string): { found: MaskedValue[]; refused: LocatedRefusal[] } {
  const [now, before, masked] = [text, source, shown].map((each) => writtenTree(parseText(each)))
  const found: MaskedValue[] = []
  const refused: LocatedRefusal[] = []
  if (now === undefined || before === undefined || masked === undefined) return { found, refused }
  const aligned = new AlignedTrees(masked.tree, now.tree, false)
  const [origins, masks] = [before.leaves, masked.leaves].map(
    (leaves) => new Map(leaves.map((leaf) => [id(leaf.path), leaf])),
  )
  for (const key of maskedKeys(now.tree, [])) refused.push(at(text, key, 0, 'found a redacted value as a key'))
  for (const leaf of now.leaves) {
    if (typeof leaf.value !== 'string' || !leaf.value.includes(HIDDEN)) continue
    const path = aligned.origin(leaf.path)
    const mask = path === null ? undefined : masks?.get(id(path))
    const origin = path === null ? undefined : origins?.get(id(path))
    if (origin !== undefined && mask?.value === leaf.value) found.push({ leaf, origin })
    else
      refused.push(
        at(text, leaf.path, leaf.from, `found ${HIDDEN} where no such value was redacted: write the value itself`),
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

/** Comments have no path, so a redacted comment is found by its visible rest, if that is unambiguous. */
function findComments(text: string, source: string): { edits: TextEdit[]; refused: LocatedRefusal[] } {
  const known = Map.groupBy(commentsShown(source), ({ shown }) => shown)
  const masked = commentsOf(text).filter(({ comment }) => comment.includes(HIDDEN))
  const edits: TextEdit[] = []
  const refused: LocatedRefusal[] = []
  for (const [comment, places] of Map.groupBy(masked, (each) => each.comment)) {
    const origins = known.get(comment) ?? []
    const isClear = origins.length === places.length || new Set(origins.map((origin) => origin.comment)).size === 1
    for (const [i, { from }] of places.entries()) {
      const origin = origins[i] ?? origins[0]
      if (isClear && origin !== undefined) edits.push({ from, to: from + comment.length, replacement: origin.comment })
      else
        refused.push(
          at(text, [], from, `found ${HIDDEN} in a comment where nothing was redacted: write the text, or remove it`),
        )
    }
  }
  return { edits, refused }
}

function editOf(text: string, source: string, { leaf, origin }: MaskedValue, form: 'written' | 'quoted'): TextEdit[] {
  if (origin.value === leaf.value) return []
  const written = source.slice(origin.from, origin.to)
  const lines = written.split('\n').length - 1
  // The empty lines that replaced the other lines of the value are removed with the mask.
  const [empty = ''] = new RegExp(`^(?:[ \\t]*\\n){0,${lines}}`).exec(text.slice(leaf.to)) ?? []
  if (lines === 0 || form === 'written')
    return [{ from: leaf.from, to: leaf.to + (lines === 0 ? 0 : empty.length), replacement: written }]
  return [{ from: leaf.from, to: leaf.to, replacement: JSON.stringify(origin.value) }]
}

/** Null when the restored text has other values than intended; else the locations where a redacted value would be revealed. */
function faultsOf(text: string, restored: string, found: readonly MaskedValue[]): LocatedRefusal[] | null {
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
      at(text, leaf.path, leaf.from, 'the redacted value would become visible here: write the value itself'),
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

function at(source: string, path: Path, offset: number, text: string): LocatedRefusal {
  return { path: printPath(path), ...positionAt(source, offset), text }
}

function rejectEdit(refused: LocatedRefusal[]): RestoreResult {
  return { ok: false, refused }
}
