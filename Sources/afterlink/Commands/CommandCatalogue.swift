extension Program {
    /// The program as it is shipped.
    ///
    /// A new command is an enum in this folder and a word here.
    package static let standard = Program(commands: [
        Demo.description,
        Simulate.description,
        Serve.description,
        Initialise.description,
        CreateApp.description,
        ListApps.description,
        ChangeApp.description,
        CreateKey.description,
        ListKeys.description,
        RevokeKey.description,
        RotateServerKey.description,
        ListServerKeys.description,
        ShowStatistics.description,
        ExplainCheck.description,
        ShowCollisions.description,
        RunBacktest.description,
        ShowModel.description,
        ResetModel.description,
        BackUp.description,
        Restore.description,
        Verify.description,
        Doctor.description,
        Migrate.description,
        CheckHealth.description,
        ShowHelp.description,
        ShowVersion.description,
    ])
}
