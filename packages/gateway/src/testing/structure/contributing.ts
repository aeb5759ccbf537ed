/** A new file of a worked example, or a change of one line of a file that is there. */
interface Change {
  /** The section of the page that it stands in. */
  example: string
  /** Below the root of the tree; the page names files of the gateway below its `src/`. */
  path: string
  /** Null for a new file. The line occurs in the file exactly once; a line that ends in `…` is a prefix. */
  edit: { how: 'after' | 'in place of'; line: string } | null
  text: string
  /** The line number in the page. */
  line: number
}

/** Reads the changes that CONTRIBUTING.md asks for: each fence, with the line above it that names the file. */
export function readChanges(page: string): Change[] {
  const changes: Change[] = []
  let example = ''
  for (const found of page.matchAll(PIECE)) {
    const { heading, fence, language = '', text = '' } = found.groups ?? {}
    if (heading !== undefined) example = heading
    if (fence === undefined) continue
    const before = page.slice(0, found.index)
    const line = before.split('\n').length
    const [, path, how, anchor] = PLACE.exec(before.trimEnd().split('\n').at(-1) ?? '') ?? []
    if (path === undefined) throw new Error(`CONTRIBUTING.md:${line}: nothing says where this ${language} belongs`)
    const edit = isWay(how) && anchor !== undefined ? { how, line: anchor } : null
    const whole = path.startsWith('packages/') ? path : `packages/gateway/src/${path}`
    changes.push({ example, path: whole, edit, text, line })
  }
  return changes
}

/** The file with the change in it: lines are indented like the one that they follow or replace, imports go to the top. */
export function applyChange(source: string, { edit, text, path, line: at }: Change): string {
  if (edit === null) return text
  const lines = source.split('\n')
  const found = lines.flatMap((line, index) => (isLine(line.trim(), edit.line) ? [index] : []))
  const [index] = found
  if (index === undefined || found.length > 1) {
    throw new Error(`CONTRIBUTING.md:${at}: \`${edit.line}\` stands ${found.length} times in ${path}`)
  }
  const indent = /^ */.exec(lines[index] ?? '')?.[0] ?? ''
  // Members of a type, an object or a list are indented by one more step.
  const inner = /[{=[]$/.test(lines[index] ?? '') ? `${indent}  ` : indent
  const added = text.trimEnd().split('\n')
  const imports = added.filter((line) => line.startsWith('import '))
  const others = added.filter((line) => line !== '' && !line.startsWith('import '))
  const depth = edit.how === 'after' ? inner : indent
  lines.splice(
    edit.how === 'after' ? index + 1 : index,
    edit.how === 'after' ? 0 : 1,
    ...others.map((line) => depth + line),
  )
  return [...imports, ...lines].join('\n')
}

function isLine(line: string, wanted: string): boolean {
  return wanted.endsWith('…') ? line.startsWith(wanted.slice(0, -1).trimEnd()) : line === wanted
}

function isWay(how: string | undefined): how is 'after' | 'in place of' {
  return how === 'after' || how === 'in place of'
}

const PIECE = /^### (?<heading>.+)$|^(?<fence>`{3,})(?<language>\w*)\n(?<text>[^]*?)^\k<fence>$/gm
const PLACE = /^`([^`]+)`(?:, (after|in place of) `(.+)`)?:$/
