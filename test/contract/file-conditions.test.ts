import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceFiles, statementsOf } from '../support/database/sql-templates.ts'

/** Why a statement over files or projects does not depend on who may see them, by its file and name. */
const unrestricted: Record<string, string> = {
  'src/quotas/verify-queries.ts findFileDrift': 'sums of the org',
  'src/files/queries.ts findProvenance': 'who uploaded what the caller has just read',
  'src/files/queries.ts byId': 'the join has the condition, or its ids were found by it',
  'src/files/queries.ts findUpload': 'by the token of an upload URL',
  'src/files/direct/queries.ts findVerifying': 'a job',
  'src/files/direct/queries.ts listUseless': 'a job',
  'src/files/direct/queries.ts listOrgsWithUseless': 'a job',
  'src/files/direct/queries.ts deleteUseless': 'a job',
  'src/files/queries.ts softDeleteFile': 'of a file that lockForDeletion has locked',
  'src/files/versions/queries.ts listVersions': 'of a file that findFile has found',
  'src/files/versions/queries.ts settleVersions': 'of a file that is locked',
  'src/files/versions/queries.ts deleteVersion': 'of a file that lockContent has locked',
  'src/files/versions/queries.ts labelCurrent': 'of a file that lockContent has locked',
  'src/files/versions/queries.ts deletePurgedVersions': 'a job',
  'src/files/versions/queries.ts deleteForgottenVersions': 'a job',
  'src/files/versions/queries.ts listDue': 'a job',
  'src/files/tree/queries.ts softDeleteChildren': 'of folders that lockFolders has found to be writable',
  'src/files/tree/queries.ts setProjectOfChildren': 'of folders that are locked',
  'src/files/tree/queries.ts listAncestors': 'ids that leave the function as a number or a boolean',
  'src/files/trash/queries.ts purgeFiles': 'a job',
  'src/files/shares/queries.ts deleteEnded': 'a job',
  'src/files/projects/queries.ts listSlugsLike': 'slugs that are compared with a new one',
  'src/files/projects/queries.ts updateProject': 'of a project that lockProject has locked',
  'src/files/projects/queries.ts softDeleteProject': 'of a project that lockProject has locked',
  'src/files/archive/queries.ts hasChildren': 'whether to look into a folder, of which only open files are read',
  'src/protocols/webdav/properties/queries.ts deletePurged': 'a job',
  'src/files/favorites/queries.ts deleteOwnPurged': 'of files that are deleted for good',
  'src/files/favorites/queries.ts deletePurged': 'a job',
  'src/files/recent/queries.ts deletePurged': 'a job',
  'src/files/usage/queries.ts inFolder': 'of folders that are open to the caller',
  'src/files/usage/queries.ts measureDirect': 'of a folder that resolveListed has found',
  'src/files/usage/queries.ts versionsOf': 'of folders that are open to the caller',
  'src/files/listing/queries.ts countSegment': 'without the folders that countListed has found to be closed',
  'src/files/listing/queries.ts below': 'of files that the condition has let through',
  'src/files/listing/queries.ts listPaths': 'names of folders that contain files that are open to the caller',
  'src/files/blobs/queries.ts listUnreleased': 'a job',
  'src/files/blobs/queries.ts markOrphans': 'a job',
  'src/files/blobs/queries.ts listUnsettledOrgs': 'a job',
  'src/files/blobs/queries.ts listLive': 'a job',
  'src/files/blobs/queries.ts listUnfinished': 'a job',
  'src/files/blobs/queries.ts deleteUnfinished': 'a job',
  'src/files/access/queries.ts listRestricted': 'ids for guards',
  'src/files/access/queries.ts deleteForgotten': 'a job',
  'src/files/access/queries.ts listNames': 'of the guards of a file that findFile has found',
  'src/files/access/queries.ts touch': 'of a folder that is locked',
  'src/files/access/queries.ts listSubfolders': 'ids for guards',
  'src/billing/spending/queries.ts listProjectItems': 'without the projects of listClosedProjects',
}

/** Names of these are conditions on the guards of a row, or on the folders that are open to a person. */
const condition = /\bguards\b|mayRead|mayWrite|folder_grants|\bclosed\b/

test('every statement over files and projects has the condition of restricted folders, or a reason why not', () => {
  const statements = sourceFiles
    .flatMap(statementsOf)
    .filter(({ text }) => /\b(?:from|join|update|using)\s+(?:files|projects)\b/.test(text))
  assert.ok(statements.length > 50, `${statements.length}`)
  const without = statements.filter(({ text }) => !condition.test(text)).map(({ file, name }) => `${file} ${name}`)
  assert.deepEqual(without.filter((name) => unrestricted[name] === undefined).toSorted(), [])
  const all = new Set(statements.map(({ file, name }) => `${file} ${name}`))
  assert.deepEqual(
    Object.keys(unrestricted).filter((name) => !all.has(name)),
    [],
    'reasons that nothing needs any more',
  )
})
