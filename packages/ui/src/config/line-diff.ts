/** A line of one text, of the other, or of both. */
export interface DiffLine {
  kind: 'same' | 'added' | 'dropped'
  text: string
  /** Numbers in either text, from 1; null where it has no such line. */
  before: number | null
  after: number | null
}

/** The shortest line difference of two texts. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const middle = changedPart(old.slice(start, old.length - end), now.slice(start, now.length - end))
  const kinds = [...same(start), ...middle, ...same(end)]
  return numbered(kinds, old, now)
}

/** Changed lines with some lines around them; null stands for a gap. */
export function shortDiff(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const isNear = new Array<boolean>(lines.length).fill(false)
  lines.forEach(({ kind }, at) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, at - around), at + around + 1)
  })
  const shown: (DiffLine | null)[] = []
  lines.forEach((line, at) => {
    if (isNear[at] === true) shown.push(line)
    else if (shown.at(-1) !== null && lines.length > 0) shown.push(null)
  })
  return shown.every((line) => line === null) ? [] : shown
}

/** The difference as text, to apply it by hand. */
export function printDiff(lines: readonly (DiffLine | null)[]): string {
  const signs = { same: ' ', added: '+', dropped: '-' } as const
  return lines.map((line) => (line === null ? '@@' : `${signs[line.kind]}${line.text}`)).join('\n') + '\n'
}

type Kind = DiffLine['kind']

function same(count: number): Kind[] {
  return new Array<Kind>(count).fill('same')
}

/** The longest common subsequence; of two long texts that have little in common, all of one and all of the other. */
function changedPart(old: readonly string[], now: readonly string[]): Kind[] {
  if (old.length * now.length > MOST_CELLS)
    return [...new Array<Kind>(old.length).fill('dropped'), ...new Array<Kind>(now.length).fill('added')]
  const width = now.length + 1
  const lengths = new Uint32Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const here = i * width + j
      lengths[here] =
        old[i] === now[j]
          ? 1 + (lengths[here + width + 1] ?? 0)
          : Math.max(lengths[here + width] ?? 0, lengths[here + 1] ?? 0)
    }
  }
  const kinds: Kind[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      kinds.push('same')
      i++
      j++
    } else if (
      j >= now.length ||
      (i < old.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      kinds.push('dropped')
      i++
    } else {
      kinds.push('added')
      j++
    }
  }
  return kinds
}

const MOST_CELLS = 4_000_000

function numbered(kinds: readonly Kind[], old: readonly string[], now: readonly string[]): DiffLine[] {
  let [before, after] = [0, 0]
  return kinds.map((kind) => {
    const text = (kind === 'dropped' ? old[before] : now[after]) ?? ''
    if (kind !== 'added') before++
    if (kind !== 'dropped') after++
    return { kind, text, before: kind === 'added' ? null : before, after: kind === 'dropped' ? null : after }
  })
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
