import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crdFiles } from './crds.ts'

/** `npm run generate`: writes what is printed from the schemas of the own kinds. */
const root = new URL('../../../../', import.meta.url)
const files = crdFiles()
for (const [path, content] of files) {
  const file = fileURLToPath(new URL(path, root))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
process.stdout.write(`wrote ${files.size} files\n`)
