// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// CodeCheck reports which of many accounts have code, in one eth_call. Like
/// SignatureCheck it is never deployed: what it "creates" is one byte for each
/// account, 1 for code and 0 for none.
contract CodeCheck {
    constructor(address[] memory accounts) {
        bytes memory answers = new bytes(accounts.length);
        for (uint256 i = 0; i < accounts.length; i++) {
            if (accounts[i].code.length > 0) {
                answers[i] = 0x01;
            }
        }
        assembly {
            return(add(answers, 32), mload(answers))
        }
    }
}
