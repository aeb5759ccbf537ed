import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from './generated-files.ts'
import { root } from './site-pages.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
for (const [path, content] of generatedFiles(read, globSync('docs/diagrams/*.txt', { cwd: root }))) {
  writeFileSync(join(root, path), content)
}
