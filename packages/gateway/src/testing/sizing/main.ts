// npm run sizing
// Prints the tables of docs/sizing.md: how far budgets of 1,000 keys on 50 machines are overspent or left unused, and
// how much memory keys take.
import { memoryTable } from './memory-table.ts'
import { FULL_SIZE, sizingTable } from './sizing-table.ts'

process.stdout.write(`${await sizingTable(FULL_SIZE)}\n\n${memoryTable()}\n`)
