import { writeFileSync } from 'node:fs'
import { chartFiles } from './chart-files.ts'

/** `npm run generate`: writes the files generated from the schema of the chart's values. */
const root = new URL('../../../../', import.meta.url)
const files = chartFiles()
for (const [path, content] of files) writeFileSync(new URL(path, root), content)
process.stdout.write(`wrote ${files.size} files\n`)
