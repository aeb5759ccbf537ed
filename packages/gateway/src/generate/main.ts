import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatedFiles } from './generated-files.ts'

/** Writes the files that are printed from the schemas; `npm run generate`. */
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const files = generatedFiles()
mkdirSync(join(root, 'docs/reference'), { recursive: true })
for (const page of readdirSync(join(root, 'docs/reference'))) {
  if (!files.has(`docs/reference/${page}`)) rmSync(join(root, 'docs/reference', page))
}
for (const [path, content] of files) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}
process.stdout.write(`wrote ${files.size} files\n`)
