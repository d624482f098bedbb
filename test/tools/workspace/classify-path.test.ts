import { expect, test } from 'vitest'

import { classifyPath, isKindRaised } from '../../../src/tools/workspace/classify-path.ts'

const kinds = (path: string): string =>
  `${classifyPath(path.split('/'), 'read')} ${classifyPath(path.split('/'), 'write')}`

test.each([
  [
    'plain plain',
    'src/main.ts .env.example .env.sample .env.template keys.ts id_rsa.pub README.md .gitignore x.git',
  ],
  [
    'plain plain',
    'environment id_generator.ts id_backup.pub id_ my_id_rsa config docker/config.json git/hooks/x env .editorconfig package.json',
  ],
  [
    'secret secret',
    '.env .env.local a/b/.env.production server.pem tls.key x.p12 x.pfx id_rsa id_ed25519 id_rsa.bak',
  ],
  [
    'secret secret',
    '.netrc .pgpass .git-credentials .htpasswd .ssh/config .aws/credentials .gnupg/x a/.ssh/known',
  ],
  ['secret secret', '.docker/config.json .kube/config deploy.pem/readme'],
  [
    'secret secret',
    '.env-production .env_local .env~ .env2 .envs .envs/local .environment .env.example.local',
  ],
  ['secret secret', 'id_backup keys/id_github ID_BACKUP'],
  ['plain plain', 'id_generator/main.py'],
  ['secret protected', '.git/config .git/modules/x/config sub/.git/config .envrc .npmrc'],
  [
    'protected protected',
    '.git .git/HEAD .git/hooks/pre-commit sub/.git/hooks/x .loopchart/x .github/workflows/ci.yml',
  ],
  [
    'protected protected',
    '.gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .travis.yml .husky/x',
  ],
  [
    'protected protected',
    'bitbucket-pipelines.yml .pre-commit-config.yaml .bashrc .profile .zshrc .vscode/tasks.json',
  ],
  [
    'protected protected',
    '.gitmodules .gitattributes loopchart.json .loopchartrc loopchart.config.ts .loopchart.json',
  ],
  // Other spellings that some file system takes for the same name.
  [
    'secret secret',
    '.ENV .Env.Local SERVER.PEM ID_RSA .SSH/x \uff0eenv .e\ufe0fnv .env:stream .env::$DATA .\uff45nv',
  ],
  ['protected protected', '.GIT/HEAD .Git/hooks/x git~1/HEAD GIT~1/HEAD \uff0egit/HEAD'],
  ['secret protected', '.git/CONFIG .GIT/config \uff0egit/\uff43onfig'],
])('to read and to write, %s: %s', (expected, paths) => {
  for (const path of paths.split(' ')) expect([path, kinds(path)]).toEqual([path, expected])
})

test('a place may be used when it asks for no more than the name did', () => {
  expect(isKindRaised('plain', 'plain', 'write')).toBe(false)
  expect(isKindRaised('secret', 'plain', 'read')).toBe(false)
  expect(isKindRaised('secret', 'secret', 'read')).toBe(false)
  expect(isKindRaised('plain', 'secret', 'read')).toBe(true)
  expect(isKindRaised('protected', 'secret', 'read')).toBe(true)
  expect(isKindRaised('plain', 'protected', 'read')).toBe(false)
  expect(isKindRaised('plain', 'protected', 'write')).toBe(true)
  expect(isKindRaised('secret', 'protected', 'write')).toBe(true)
  expect(isKindRaised('protected', 'secret', 'write')).toBe(true)
})
