import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GENERATED_FOLDERS, generatedFiles } from './generated-files.ts'

/** Writes the files that are made from schemas and READMEs; `npm run generate`. */
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const files = generatedFiles()
for (const folder of GENERATED_FOLDERS) {
  mkdirSync(join(root, folder), { recursive: true })
  for (const page of readdirSync(join(root, folder))) {
    if (!files.has(`${folder}/${page}`)) rmSync(join(root, folder, page))
  }
}
for (const [path, content] of files) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}
process.stdout.write(`wrote ${files.size} files\n`)
